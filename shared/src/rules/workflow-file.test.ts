// What a file may say, and how its faults are told.
import { expect, test } from 'vitest';
import { WfgError } from '../contract/problem.ts';
import { readWorkflowFile } from './workflow-file.ts';

function fault(text: string): WfgError {
  try {
    readWorkflowFile(text);
  } catch (error) {
    if (error instanceof WfgError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

test('a file gives jobs in its order, with every default', () => {
  const { name, trigger, env, jobs } = readWorkflowFile(`
name: n
on: [push, tag]
env: { A: '1' }
jobs:
  b: { run: make, needs: a, labels: [linux, aws, linux], retries: 2 }
  a:
    run: ignored, since there are steps
    steps:
      - { name: One, run: " echo 1 ", env: { B: '2' } }
      - { id: nothing to run }
      - run: echo 3
`);
  expect({ name, trigger, env, ids: jobs.map((job) => job.id) }).toEqual({
    name: 'n',
    trigger: 'on: [push, tag]',
    env: { A: '1' },
    ids: ['b', 'a'],
  });
  expect(jobs[0]).toMatchObject({
    name: 'b',
    needs: ['a'],
    labels: ['aws', 'linux'],
    max_retries: 2,
    backoff: null,
  });
  expect(jobs[1]).toMatchObject({
    run: null,
    steps: [
      { label: 'One', run: 'echo 1', env: { B: '2' }, timeout: null },
      { label: 'step 3', run: 'echo 3', env: {}, timeout: null },
    ],
  });
});

test.for([
  ['on: push', 'on: push'],
  ['on: [a, b]', 'on: [a, b]'],
  ['on: { push: { branches: [x] }, cron: y }', 'on: [push, cron]'],
  ['', ''],
])('trigger of %j is %j', ([line, trigger]) => {
  expect(readWorkflowFile(`name: n\n${line}\njobs: {}`).trigger).toBe(trigger);
});

test('needs may be absent, null, a string or a list', () => {
  const text =
    'name: n\njobs: { a: { run: x }, b: { run: x, needs: }, c: { run: x, needs: a }, d: { run: x, needs: [a, b] } }';
  expect(readWorkflowFile(text).jobs.map((job) => job.needs)).toEqual([[], [], ['a'], ['a', 'b']]);
});

test('JSON is read too, and workflow-graph’s array of jobs', () => {
  const job = {
    id: 'a',
    name: 'A',
    status: 'success',
    command: 'true',
    depends_on: [],
    attempt: 7,
    max_retries: 1,
  };
  const { jobs } = readWorkflowFile(JSON.stringify({ id: 'x', name: 'n', trigger: 'on: push', jobs: [job] }));
  expect(jobs).toMatchObject([{ id: 'a', name: 'A', run: 'true', max_retries: 1 }]);
});

test.for([
  ['name: n\njobs:\n  a: [', 'malformed_yaml', /line 3, column \d+/],
  ['name: n\nname: m\njobs: {}', 'malformed_yaml', /line 2, column 1/],
  [
    'name: n\njobs:\n  a: {}',
    'invalid_workflow',
    /^line 3, column 6: jobs.a.run: .*must have either 'run' or 'steps'/,
  ],
  [
    'name: n\njobs:\n  a: { run: x, if: y }',
    'invalid_workflow',
    /^line 3, column 20: jobs\.a\.if: Unrecognized named-value: 'y'/,
  ],
  [
    'name: n\njobs:\n  a.b:\n    run: x\n    env:\n      A: ok\n      B: ${{ x }}',
    'invalid_workflow',
    /^line 7, column 10: jobs\.a\.b\.env\.B: /,
  ],
  [
    'name: n\njobs:\n  a: { steps: [{ run: x, if: true }, { run: x, if: } ] }',
    'invalid_workflow',
    /^line 3, column 52: jobs\.a\.steps\.1\.if: must be an expression/,
  ],
  [
    'name: n\njobs: { a: { uses: x, with: { b.c: [1, "${{ needs.b }}"] } } }',
    'invalid_workflow',
    /^line 2, column 40: jobs\.a\.with\.b\.c\.1: needs has no 'b'/,
  ],
  [
    'name: n\nx: &e { A: 1 }\njobs: { a: { run: x, env: *e } }',
    'invalid_workflow',
    /jobs\.a\.env\.A: must be a string/,
  ],
  ['name: n\nx: *e\njobs: {}', 'malformed_yaml', /line 2, column 4: nothing before \*e is marked as &e/],
  ['name: n\njobs: {}\n---\nname: m', 'malformed_yaml', /line 3, column 1: another document begins here/],
  [
    'name: n\njobs:\n  a:\n    run: echo "a: b"',
    'malformed_yaml',
    /line 4, column 10: .*: put a text with ': '/,
  ],
  ['name: n\njobs:\n  a:\n    run: `x`', 'malformed_yaml', /line 4, column 10: .*: put the text in quotes/],
  ['name: n\njobs:\n\ta: { run: x }', 'malformed_yaml', /line 3, column 1: .*: use spaces/],
  [
    'name: n\njobs:\n  a:\n',
    'invalid_workflow',
    /line 3, column 5: jobs\.a: must be a map with run, steps or uses/,
  ],
  [
    'name: n\njobs:\n  a: { run: 5 }',
    'invalid_workflow',
    /column 13: jobs\.a\.run: must be text: put the value in quotes/,
  ],
  [
    'name: n\njobs:\n  a: { run: x, labels: gpu }',
    'invalid_workflow',
    /column 24: jobs\.a\.labels: must be a list, like \[/,
  ],
  [
    'name: n\njobs:\n  a: { run: 5, runs-on: x }',
    'invalid_workflow',
    /column 13: jobs\.a\.run: .* \(and 1 more\)/,
  ],
  ['name: n\njobs:\n  a: { run: x, if: !failure() }', 'malformed_yaml', /line 3, column 20: .*in quotes/],
  ['name: n\njobs: &j { a: { run: x, uses: *j } }', 'invalid_workflow', /nested more than 100 levels/],
  [
    'name: n\njobs:\n  a:\n    run: x\n    need: b',
    'invalid_workflow',
    /line 5, column 11: jobs\.a\.need: unknown key "need"/,
  ],
  [
    'name: n\njobs: { a: { run: x, retry: { backoff: exponential } } }',
    'invalid_workflow',
    /backoff: must be "None", \{ Fixed/,
  ],
  [
    'name: n\njobs: { a: { run: x, timeout: 5m } }',
    'invalid_workflow',
    /timeout: must be a whole number of seconds/,
  ],
  ['jobs: {}', 'invalid_workflow', /name: must be text/],
  ['name: n', 'invalid_workflow', /jobs: must be a map of jobs/],
  ['name: n\nenv: { PORT: 8080 }\njobs: {}', 'invalid_workflow', /line 2, column 14: env.PORT: .*quotes/],
  [
    'name: n\njobs: { a: { run: x, needs: b } }',
    'invalid_workflow',
    /'a' depends on 'b', which doesn't exist/,
  ],
  ['name: n\njobs: { a: { run: x, needs: a } }', 'invalid_workflow', /a -> a/],
  ['name: n\njobs: { "a b": { run: x } }', 'invalid_workflow', /'a b' must match/],
  ['name: n\njobs: { "..": { run: x } }', 'invalid_workflow', /'\.\.' must match/],
  ['name: n\njobs: { a: { run: x, retries: -1 } }', 'invalid_workflow', /jobs\.a\.retries/],
  ['name: n\njobs: { a: { run: x, labels: [":command"] } }', 'invalid_workflow', /jobs\.a\.labels\.0/],
  ['', 'invalid_workflow', /must be a map with name and jobs/],
  ['- a', 'invalid_workflow', /must be a map with name and jobs/],
] as const)('%j is refused as %s', ([text, code, message]) => {
  const error = fault(text);
  expect(error.code).toBe(code);
  expect(error.message).toMatch(message);
});

test('aliases that would unfold into millions of dependencies are refused at once', () => {
  const ids = Array.from({ length: 900 }, (_, index) => `j${index}`);
  const jobs = ids.map(
    (id, index) => `  ${id}: { run: x, needs: ${index === 0 ? `&all [${ids.join(', ')}]` : '*all'} }`,
  );
  expect(fault(`name: n\njobs:\n${jobs.join('\n')}`).message).toMatch(
    /810000 dependencies are more than the 200000 a workflow may have/,
  );
  const names = Array.from({ length: 16 }, (_, index) => `n${index}`);
  const nested = names.map(
    (name, index) => `${name}: &${name} [${index === 0 ? 'x, x' : `*n${index - 1}, *n${index - 1}`}]`,
  );
  expect(fault(`name: n\njobs: {}\n${nested.join('\n')}`).code).toBe('malformed_yaml');
});

test('of many faults a hundred are told', () => {
  const jobs = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [`j${index}`, { run: 'x', needs: ['no'] }]),
  );
  const { issues, message } = fault(JSON.stringify({ name: 'n', jobs }));
  expect(issues).toHaveLength(100);
  expect(message).toMatch(/and 499 more/);
});

test('what is nested too deeply is refused', () => {
  expect(fault(`name: n\njobs: ${'['.repeat(5000)}`).message).toMatch(
    /line 2, column \d+: it is nested too deeply/,
  );
});

test('names keep their zeros, and a payload its integers', () => {
  const { jobs } = readWorkflowFile(`
name: n
jobs:
  007: { uses: x, with: { id: 12345678901234567890, hex: 0x1f, some: -3, half: 0.5, 010: y } }
  1e3: { run: x, needs: ['007'], timeout: 60 }`);
  expect(jobs.map((job) => job.id)).toEqual(['007', '1e3']);
  expect(JSON.stringify(jobs[0]?.with)).toBe(
    '{"id":12345678901234567890,"hex":31,"some":-3,"half":0.5,"010":"y"}',
  );
});

test('a name that JavaScript would swallow is refused', () => {
  expect(fault('{"name":"n","jobs":{"__proto__":{"run":"x"}}}').message).toMatch(/__proto__/);
});

test('an environment too large for a process is refused', () => {
  expect(fault(`name: n\nenv: { A: '${'x'.repeat(300_000)}' }\njobs: {}`).message).toMatch(/env: .*256 KiB/);
});
