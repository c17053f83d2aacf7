// What a job's condition and its templates come to, given what has happened.
import { expect, test } from 'vitest';
import type { SpecTemplate } from '../../contract/definition.ts';
import { parseJson } from '../../contract/json.ts';
import { ExpressionError } from './expression-error.ts';
import { type Facts, judge } from './judge.ts';

const FACTS: Facts = {
  env: { STAGE: 'test', Path: 'upper', path: 'lower' },
  needs: {
    build: {
      result: 'success',
      outputs: { version: '1.2', ids: '[1, 12345678901234567890]', constructor: 'c' },
    },
    'my-job': { result: 'failure', outputs: {} },
    'a.b': { result: 'skipped', outputs: { x: 'dots' } },
    Twin: { result: 'success', outputs: { who: 'Twin' } },
    twin: { result: 'success', outputs: { who: 'twin' } },
  },
  ancestors: { ok: true, failed: false },
  cancelled: false,
};
const FAILED = { ...FACTS, ancestors: { ok: false, failed: true } };
const CANCELLED = { ...FACTS, ancestors: { ok: false, failed: false }, cancelled: true };
const NO_SPEC = { run: 'true', steps: null, env: {}, mask: [], not_on: [] };

const runs = (condition: string, facts = FACTS) =>
  judge({ condition, spec: NO_SPEC, payload: null }, facts).run;
function filled(text: string): unknown {
  const verdict = judge({ condition: null, spec: null, payload: { text } }, FACTS);
  return verdict.run ? verdict.payload : verdict;
}
function fault(fn: () => unknown): string {
  try {
    fn();
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
  throw new Error('nothing was wrong');
}

test.for([
  // condition, all well, after a failure, after a cancel
  ['success()', true, false, false],
  ['failure()', false, true, false],
  ['always()', true, true, true],
  ['cancelled()', false, false, true],
  ['success() || failure()', true, true, false],
  ["env.STAGE == 'test'", true, false, false],
  ["env.STAGE == 'live'", false, false, false],
  ["always() && env.STAGE == 'TEST'", true, true, true],
  ['!cancelled()', true, true, false],
  ["needs.my-job.result == 'failure'", true, false, false],
  ["contains(needs.*.result, 'failure')", true, false, false],
  ['needs.build.outputs.nothing', false, false, false],
  ["needs['a.b'].outputs.x == 'dots' && NEEDS.Build.Outputs.VERSION == 1.2", true, false, false],
  ["startsWith(env.STAGE, 'te') && endsWith(env.STAGE, 'st')", true, false, false],
  ['fromJSON(needs.build.outputs.ids)[0] == 1', true, false, false],
] as const)('%s', ([condition, well, afterFailure, afterCancel]) => {
  expect([runs(condition), runs(condition, FAILED), runs(condition, CANCELLED)]).toEqual([
    well,
    afterFailure,
    afterCancel,
  ]);
});

test.for([
  ['v${{ needs.build.outputs.version }}-${{env.STAGE}}', 'v1.2-test'],
  ["${{ format('{0}/{1}', 'a', env.STAGE) }}", 'a/test'],
  ["${{ join(fromJSON('[1, 2]'), '-') }}", '1-2'],
  ["${{ '}}' }}${{ 'it''s ''so''' }}", "}}it's 'so'"],
  ["${{ '${{' }} literal }}", '${{ literal }}'],
  ['${{ env.NONE }}', null],
  ['${{ env.NONE }}.', '.'],
  ['${{ needs.build.outputs.constructor }}', 'c'],
  ['${{ 1 == 1 }}', true],
  ['${{ 1.50 }}', 1.5],
  [
    '${{ fromJSON(\'{"constructor": {"a": [null]}, "A": 1, "a": 2}\') }}',
    { constructor: { a: [null] }, A: 1, a: 2 },
  ],
  ['${{ env.PATH }}', null],
  ['${{ env.Path }}${{ env.path }}', 'upperlower'],
  ['${{ needs.Twin.outputs.who }} ${{ needs.twin.outputs.who }}', 'Twin twin'],
] as const)('%s in with', ([text, value]) => {
  expect(filled(text)).toEqual({ text: value });
});

test('integers beyond 2^53 keep their digits', () => {
  expect(JSON.stringify(filled('${{ fromJSON(needs.build.outputs.ids) }}'))).toBe(
    '{"text":[1,12345678901234567890]}',
  );
  expect(filled('${{ join(fromJSON(needs.build.outputs.ids)) }}')).toEqual({
    text: '1,12345678901234567890',
  });
  const payload = parseJson('{"id": 12345678901234567890, "a": "${{ env.STAGE }}"}');
  const verdict = judge({ condition: null, spec: null, payload }, FACTS);
  expect(JSON.stringify(verdict)).toContain('{"id":12345678901234567890,"a":"test"}');
});

test('the job’s env is seen by its steps, the step’s by its own if, and a command is left as it is', () => {
  const step = { label: 's', run: 'echo ${{ env.A }}', timeout: 3 };
  const spec: SpecTemplate = {
    ...NO_SPEC,
    run: null,
    env: { A: '${{ env.STAGE }}!', STAGE: 'job' },
    steps: [
      { ...step, env: { B: '${{ env.A }}${{ env.STAGE }}' }, if: "env.B == 'test!job'" },
      { ...step, env: {}, if: 'failure()' },
      { ...step, env: {}, if: 'always()' },
      { ...step, env: {}, if: "env.STAGE == 'test'" },
      { ...step, env: {}, if: null },
    ],
    mask: ['A'],
    not_on: [3],
  };
  const of = (on_success: boolean, on_failure: boolean, env = {}) => ({
    ...step,
    env,
    on_success,
    on_failure,
  });
  expect(judge({ condition: 'success()', spec, payload: null }, FACTS)).toEqual({
    run: true,
    spec: {
      run: null,
      steps: [
        of(true, false, { B: 'test!job' }),
        of(false, true),
        of(true, true),
        of(false, false),
        of(true, false),
      ],
      env: { A: 'test!', STAGE: 'job' },
      mask: ['A'],
      not_on: [3],
    },
    payload: null,
  });
});

test.for([
  ['if', "fromJSON('{')", 'if: fromJSON() was given a text that is not JSON'],
  ['with', '${{ fromJSON(env.NONE) }}', 'with.text: fromJSON() was given an empty text'],
  ['with', 'a ${{ needs }}', 'with.text: the value is a list or a map, not text: use toJSON() or join()'],
  [
    'with',
    "${{ format('{1}', 1) }}",
    'with.text: The following format string references more arguments than were supplied: {1}',
  ],
] as const)('in %s, %s: %s', ([where, text, message]) => {
  const act = () => (where === 'if' ? runs(text) : filled(text));
  expect(fault(act)).toBe(message);
});

test('what a few characters could blow up is refused', () => {
  const facts = { ...FACTS, env: { BIG: 'x'.repeat(200_000) } };
  const grow = (text: string) => fault(() => judge({ condition: null, spec: null, payload: text }, facts));
  // Without a look ahead the system's own limit, at half a gigabyte, would be met first.
  expect(grow(`\${{ format('${'{0}'.repeat(5000)}', env.BIG) }}`)).toMatch(/too much text/);
  expect(grow(`\${{ join(fromJSON('[1${',1'.repeat(4000)}]'), env.BIG) }}`)).toMatch(/too much text/);
  expect(grow(`\${{ ${"contains(env.BIG, 'y') || ".repeat(100)} 1 }}`)).toMatch(/too much text/);
  expect(grow('${{ env.BIG }}'.repeat(100))).toMatch(/too much text/);
  expect(grow(`\${{ fromJSON('${'['.repeat(200)}${']'.repeat(200)}') }}`)).toMatch(/nested more than/);
  expect(grow('${{ env.BIG }}'.repeat(10))).toMatch(/larger than 1 MiB/);
  const spec = { ...NO_SPEC, env: { A: '${{ env.BIG }}', B: '${{ env.BIG }}' } };
  expect(fault(() => judge({ condition: null, spec, payload: null }, facts))).toMatch(/^env: .*256 KiB/);
});
