// Whatever is handed in as a workflow is defined or refused, with at least one fault told; and what is defined can be
// stored, read again and judged.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Definition } from '../contract/definition.ts';
import { parseJson, toStorableJson } from '../contract/json.ts';
import { WfgError } from '../contract/problem.ts';
import { FileJob, WorkflowInput } from '../contract/workflow.ts';
import { defineWorkflow } from './definition.ts';
import { ExpressionError } from './expression/expression-error.ts';
import { judge } from './expression/judge.ts';
import { readWorkflowFile } from './workflow-file.ts';

const TEXTS =
  `a b x.y 1 -1 true always() failure() needs.a.result \${{ \${{env.A}} \${{needs.b.outputs.x}} None && [ ] {
  } : - # & * ! | > ' " , echo`.split(/\s+/);
const word = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ maxLength: 8 }));
const KEYS = [
  ...Object.keys(FileJob.shape),
  ...Object.keys(WorkflowInput.shape),
  'max_retries',
  'backoff',
  'not_on',
];
const key = fc.oneof(fc.constantFrom(...KEYS), word);

const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 6, depthIdentifier: 'json' },
    word,
    fc.constantFrom(null, true, 0, 1, 60, 1.5),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(key, tie('json'), { maxKeys: 4 }),
  ),
}));

/** More often right than wrong. */
const env = fc.dictionary(fc.constantFrom('A', 'B'), word, { maxKeys: 2 });
const id = fc.constantFrom('a', 'b', 'x.y', 'A');
const step = fc.record(
  { run: word, if: word, env, name: word, timeout: fc.integer() },
  { requiredKeys: ['run'] },
);
const job = fc.record(
  {
    run: word,
    steps: fc.array(step, { maxLength: 2 }),
    uses: word,
    with: json,
    needs: fc.uniqueArray(id, { maxLength: 2 }),
    if: word,
    env,
    mask: fc.array(word, { maxLength: 1 }),
    retry: fc.record({ max_retries: fc.nat(3), not_on: fc.array(fc.integer({ min: -1, max: 300 })) }),
  },
  { requiredKeys: [] },
);
const workflow = fc.record({ name: word, env, jobs: fc.dictionary(id, fc.oneof(job, json), { maxKeys: 4 }) });

function outcomeOf(fn: () => Definition): Definition | WfgError {
  try {
    return fn();
  } catch (error) {
    if (error instanceof WfgError) return error;
    throw error;
  }
}

/** Whether it is defined, or refused with something to read about each fault. */
function isAnswer(outcome: Definition | WfgError): boolean {
  if (!(outcome instanceof WfgError)) return true;
  const texts = [outcome.message, ...outcome.issues.map(({ message }) => message)];
  return texts.every((text) => text.length > 0 && text.length < 1000);
}

test('any JSON, and any that looks like a workflow', () => {
  let defined = 0;
  fc.assert(
    fc.property(fc.oneof(workflow, workflow, json), (input) => {
      const definition = outcomeOf(() => defineWorkflow(input));
      expect(isAnswer(definition)).toBe(true);
      if (definition instanceof WfgError) return;
      defined += 1;
      expect(Definition.parse(parseJson(toStorableJson(definition)))).toEqual(definition);
      for (const { condition, run, steps, env, mask, not_on, needs, with: payload } of definition.jobs) {
        const facts = {
          env: definition.env,
          needs: Object.fromEntries(needs.map((need) => [need, { result: 'success' as const, outputs: {} }])),
          ancestors: { ok: true, failed: false },
          cancelled: false,
        };
        try {
          judge({ condition, spec: { run, steps, env, mask, not_on }, payload }, facts);
        } catch (error) {
          if (!(error instanceof ExpressionError)) throw error;
        }
      }
    }),
    { numRuns: 1000 },
  );
  expect(defined).toBeGreaterThan(30);
});

test('any text, and any that looks like YAML', () => {
  const line = fc.tuple(fc.constantFrom('', '  ', '    ', '- '), key, fc.constantFrom(':', ': ', ' '), word);
  const yaml = fc
    .array(line, { maxLength: 12 })
    .map((lines) => lines.map((parts) => parts.join('')).join('\n'));
  const head = fc.constantFrom('', 'name: n\njobs:\n  a:\n', 'name: n\njobs:\n');
  fc.assert(
    fc.property(
      head,
      fc.oneof(
        yaml,
        fc.string({ unit: 'binary' }),
        json.map((value) => JSON.stringify(value)),
      ),
      (top, text) => {
        expect(isAnswer(outcomeOf(() => readWorkflowFile(top + text)))).toBe(true);
      },
    ),
    { numRuns: 1000 },
  );
});
