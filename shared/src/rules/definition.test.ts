// Jobs of every kind: what becomes of them, and what is refused, with its path.
import { expect, test } from 'vitest';
import { parseJson } from '../contract/json.ts';
import { WfgError } from '../contract/problem.ts';
import { defineWorkflow } from './definition.ts';

const RUN = { run: 'true' };
const jobsOf = (jobs: object, top: object = {}) => defineWorkflow({ name: 'n', ...top, jobs }).jobs;
const jobOf = (job: object) => jobsOf({ a: RUN, 'my-job': RUN, 'x.y': RUN, it: job }).at(-1);
const NEEDS = { needs: ['a', 'my-job', 'x.y'] };

const tenOf = (job: object) =>
  Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`j${index}`, job]));

function faults(jobs: object, top: object = {}): Record<string, string> {
  try {
    jobsOf(jobs, top);
  } catch (error) {
    if (error instanceof WfgError) return Object.fromEntries(error.issues.map((it) => [it.path, it.message]));
    throw error;
  }
  return {};
}

test('a command has what its fields say', () => {
  const retry = { max_retries: 2, backoff: 'None', not_on: [2, 64, 2] };
  expect(
    jobOf({ ...RUN, retry, mask: ['T', 'T'], env: { T: 'x' }, expires_in: 60, timeout: 5 }),
  ).toMatchObject({
    run: 'true',
    max_retries: 2,
    backoff: 'None',
    not_on: [2, 64],
    mask: ['T'],
    expires_in: 60,
    timeout: 5,
    uses: null,
    condition: null,
    tolerates: 'nothing',
  });
  expect(jobOf({ ...RUN, retries: 3 })).toMatchObject({ max_retries: 3, backoff: null });
  expect(defineWorkflow({ name: 'n', timeout: 9, jobs: [] }).timeout).toBe(9);
});

test('a job for a handler hands over any JSON, with every digit', () => {
  const input = parseJson(
    '{"name": "n", "jobs": {"it": {"uses": "user.created", "with": {"id": 12345678901234567890}}}}',
  );
  const [job] = defineWorkflow(input).jobs;
  expect(job).toMatchObject({ uses: 'user.created', run: null, steps: null });
  expect(JSON.stringify(job?.with)).toBe('{"id":12345678901234567890}');
  expect(jobOf({ uses: 'x' })?.with).toEqual({});
  expect(jobOf({ uses: 'x', with: null })?.with).toBe(null);
  expect(jobOf({ uses: 'x', with: [1, 'a', null] })?.with).toEqual([1, 'a', null]);
});

test.for([
  // if, condition, tolerates
  [undefined, null, 'nothing'],
  [true, 'true', 'nothing'],
  ["${{ env.A == 'x' }}", "env.A == 'x'", 'nothing'],
  [" needs.my-job.result == 'success' ", "needs.my-job.result == 'success'", 'nothing'],
  ["needs['x.y'].outputs.z", "needs['x.y'].outputs.z", 'nothing'],
  ['success()', 'success()', 'failure'],
  ['failure() && env.A', 'failure() && env.A', 'failure'],
  ['SUCCESS() || Failure()', 'SUCCESS() || Failure()', 'failure'],
  ['always()', 'always()', 'cancel'],
  ['!cancelled()', '!cancelled()', 'cancel'],
  ["format('{0}', always())", "format('{0}', always())", 'cancel'],
  ["'always()' == env.A", "'always()' == env.A", 'nothing'],
] as const)('if: %s', ([given, condition, tolerates]) => {
  expect(jobOf({ ...RUN, ...NEEDS, if: given })).toMatchObject({ condition, tolerates });
});

test.for([
  [{ env: { A: 'x${{ needs.a.outputs.v }}' } }],
  [{ run: undefined, steps: [{ run: 'x', env: { A: '${{ env.B }}' } }] }],
  [{ run: undefined, steps: [{ run: 'x', if: 'failure()' }] }],
  [{ run: undefined, uses: 'x', with: { deep: [{ er: '${{ toJSON(needs) }}' }] } }],
])('%j is judged, though it has no if', ([job]) => {
  expect(jobOf({ ...RUN, ...NEEDS, ...job })).toMatchObject({ condition: 'success()', tolerates: 'nothing' });
});

test('a step keeps its own if, also behind one without a command', () => {
  const steps = [{ name: 'nothing' }, { run: 'x', if: '${{ always() }}' }, { run: 'y' }];
  expect(jobOf({ steps })?.steps).toMatchObject([{ if: 'always()' }, { if: null }]);
});

test('what is not evaluated is left as it is', () => {
  expect(jobOf({ run: 'echo ${{ nonsense' })).toMatchObject({ run: 'echo ${{ nonsense', condition: null });
  const [job] = defineWorkflow({
    name: 'n',
    jobs: [{ id: 'a', name: 'a', command: '${{ x', depends_on: [], metadata: { a: '${{' } }],
  }).jobs;
  expect(job).toMatchObject({ run: '${{ x', condition: null, metadata: { a: '${{' } });
});

test.for([
  [{ uses: 'x', run: 'y' }, 'run', /for a command/],
  [{ uses: 'x', steps: [] }, 'steps', /for a command/],
  [{ uses: 'x', env: {} }, 'env', /for a command/],
  [{ uses: 'x', mask: ['A'] }, 'mask', /for a command/],
  [{ uses: 'x', retry: { not_on: [1] } }, 'retry.not_on', /exit codes/],
  [{ uses: 'a\nb' }, 'uses', /control character/],
  [{ uses: 'x', with: { a: Number.NaN } }, 'with', /holds NaN/],
  [{ ...RUN, with: {} }, 'with', /handler of 'uses'/],
  [{ ...RUN, retries: 1, retry: {} }, 'retries', /beside 'retry'/],
  [{ ...RUN, retry: { not_on: [0] } }, 'retry.not_on.0', /exit code, from 1 to 255/],
  [{ ...RUN, retry: { not_on: [256] } }, 'retry.not_on.0', /exit code/],
  [{ ...RUN, mask: ['a b'] }, 'mask.0', /letters, digits/],
  [{ ...RUN, expires_in: 0 }, 'expires_in', /seconds/],
  [{ needs: 'a' }, 'run', /must have either 'run' or 'steps'/],
  [{ ...RUN, if: '' }, 'if', /empty/],
  [{ ...RUN, if: null }, 'if', /must be an expression/],
  [{ ...RUN, if: '${{ true }} && false' }, 'if', /around the whole expression/],
  [{ ...RUN, if: 'needs.a.result' }, 'if', /needs has no 'a'/],
  [{ ...RUN, ...NEEDS, if: 'needs.x.y.result' }, 'if', /needs has no 'x'.*needs\['a\.b'\]/],
  [{ ...RUN, ...NEEDS, if: 'needs.a.output' }, 'if', /no 'output': it has result and outputs/],
  [{ ...RUN, env: { A: '${{ needs.b.outputs.x }}' } }, 'env.A', /needs has no 'b'/],
  [{ ...RUN, env: { A: '${{ success() }}' } }, 'env.A', /success\(\) can only be asked in an 'if'/],
  [{ ...RUN, env: { A: '${{ 1' } }, 'env.A', /no '}}'/],
  [{ ...RUN, env: { A: '${{ }}' } }, 'env.A', /empty/],
  [{ uses: 'x', with: { a: [1, '${{ github.sha }}'] } }, 'with.a.1', /there are needs and env/],
  [{ steps: [{ name: 'n' }, { run: 'x', if: 'steps.a' }] }, 'steps.1.if', /'steps'/],
  [{ steps: [{ run: 'x', env: { A: '${{ x() }}' } }] }, 'steps.0.env.A', /function: 'x'.*contains/],
] as const)('%j is refused at %s', ([job, path, message]) => {
  expect(faults({ a: RUN, 'my-job': RUN, 'x.y': RUN, it: job })).toEqual({
    [`jobs.it.${path}`]: expect.stringMatching(message),
  });
});

test('of jobs whose ids differ in case alone the one that is named is meant', () => {
  const both = { Build: RUN, build: RUN };
  const it = (name: string) => ({
    ...both,
    it: { ...RUN, needs: ['Build', 'build'], if: `needs.${name}.result` },
  });
  expect(faults(it('Build'))).toEqual({});
  expect(faults(it('build'))).toEqual({});
  expect(faults(it('BUILD'))).toEqual({ 'jobs.it.if': expect.stringMatching(/needs has no 'BUILD'/) });
});

test('a payload of more than 1 MiB is refused', () => {
  const payload = { a: ['x'.repeat(2 ** 20)] };
  expect(faults({ it: { uses: 'x', with: payload } })).toEqual({
    'jobs.it.with': expect.stringMatching(/larger than 1 MiB/),
  });
});

test('the workflow’s own env takes no expression', () => {
  expect(faults({}, { env: { A: '${{ env.B }}' } })).toEqual({
    'env.A': expect.stringMatching(/env of the jobs/),
  });
});

test('a flood of names, expressions, steps or nested lists is refused unread', () => {
  const bad = Object.fromEntries(Array.from({ length: 100_001 }, (_, index) => [`bad ${index}`, 'x']));
  expect(faults({}, { env: bad })).toEqual({ jobs: expect.stringMatching(/100001 variables/) });
  const many = Object.fromEntries(
    Array.from({ length: 1000 }, (_, index) => [`V${index}`, '${{1}}'.repeat(11)]),
  );
  expect(faults(tenOf({ ...RUN, env: many }))).toEqual({ jobs: expect.stringMatching(/110000 expressions/) });
  const steps = Array.from({ length: 10_001 }, () => ({ run: 'x', if: 'true' }));
  expect(faults(tenOf({ steps }))).toEqual({ jobs: expect.stringMatching(/100010 steps/) });
  const circle: unknown[] = [];
  circle.push(circle);
  expect(faults({ a: { uses: 'x', with: circle } })).toEqual({ '': expect.stringMatching(/nested/) });
  const text = 'x'.repeat(2 ** 20);
  expect(faults(tenOf({ steps: Array.from({ length: 4 }, () => ({ run: text })) }))).toEqual({
    '': expect.stringMatching(/too large/),
  });
});

test('a trigger is shown in the order in which it is written', () => {
  const on = { push: { branches: ['main'] }, schedule: [{ cron: '0 2 * * *' }] };
  expect(defineWorkflow({ name: 'n', on, jobs: {} })).toMatchObject({
    trigger: 'on: [push, schedule]',
    schedules: [{ cron: '0 2 * * *' }],
  });
});
