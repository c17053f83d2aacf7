// What jobs of workflow files do when they run: rows 21 to 24, by a worker of our own.
import { Job } from '@wfg/shared/contract/job';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startWalk, type Walk } from '../../support/graph-user.ts';

let walk: Walk;

beforeAll(async () => {
  walk = await startWalk();
});

afterAll(() => walk[Symbol.asyncDispose]());

/** Runs a file to its end; returns its jobs by their ids. */
async function runFile(yaml: string): Promise<Record<string, Job>> {
  const run = await walk.run(await walk.put('w', yaml));
  const { jobs } = await walk.cluster.ended(run);
  return Object.fromEntries(jobs.map((job) => [job.job_id, job]));
}

const log = async (job: string) =>
  String((await walk.ask('GET', `/api/workflows/w/jobs/${job}/logs/raw`)).body);

test('21: steps run one after another below their banners, and the first that fails ends the job', async () => {
  const { a, b } = await runFile(`
name: steps
jobs:
  a:
    steps:
      - { name: "It's the first", run: "echo one\\ncd /; export LEAK=1; echo two" }
      - { id: second, run: 'echo "[$LEAK]"; test "$PWD" != / && echo own folder' }
      - { name: not run }
      - { run: echo last }
  b:
    steps:
      - { name: fails, run: "false\\necho behind" }
      - { name: later, run: echo later }
`);
  expect(await log('a')).toBe(
    "=== It's the first ===\none\ntwo\n=== second ===\n[]\nown folder\n=== step 4 ===\nlast\n",
  );
  expect(a).toMatchObject({ state: 'completed' });
  expect(await log('b')).toBe('=== fails ===\n');
  expect(b).toMatchObject({ state: 'failed', error: expect.stringMatching(/^exit code 1: /) });
});

test('22: the job’s environment goes before the workflow’s, a step’s before both; values are kept as they are', async () => {
  const odd = `it's "odd" $HOME \`id\` \\\\ #`;
  await runFile(`
name: env
env: { ALL: global, JOB: global, STEP: global, ODD: ${JSON.stringify(odd)}, EMPTY: '' }
jobs:
  a:
    env: { JOB: job, STEP: job }
    run: printf '%s\\n' "$ALL" "$JOB" "$STEP" "$ODD" "[$EMPTY]"
  b:
    env: { JOB: job, STEP: job }
    steps:
      - { run: 'echo "$ALL $JOB $STEP"', env: { STEP: step } }
      - { run: 'echo "$ALL $JOB $STEP"' }
`);
  expect(await log('a')).toBe(`global\njob\njob\n${odd}\n[]\n`);
  expect((await log('b')).split('\n').filter((line) => !line.startsWith('==='))).toEqual([
    'global job step',
    'global job job',
    '',
  ]);
});

test('22: the same holds for whoever executes the command as a text', async () => {
  const yaml = `
name: env
env: { A: "it's", B: global }
jobs: { a: { run: 'echo "$A $B" > "$OUT"', env: { B: job }, labels: [foreign] } }
`;
  await walk.run(await walk.put('w', yaml));
  const claimed = await walk.claimed({ labels: ['foreign'] });
  await walk.tell(claimed, 'complete');
  const { command } = claimed.job;
  const { jobs } = await walk.cluster.ended(
    await walk.run(
      await walk.put(
        'again',
        `
name: again
jobs: { a: { run: ${JSON.stringify(`OUT=out sh -c "$TEXT"; cat out`)}, env: { TEXT: ${JSON.stringify(command)} } } }
`,
      ),
    ),
  );
  expect(jobs).toMatchObject([{ state: 'completed' }]);
  expect((await walk.ask('GET', '/api/workflows/again/jobs/a/logs/raw')).body).toBe("it's job\n");
});

test('23: a job, and a step, is ended when its timeout is over', async () => {
  const { a, b, c } = await runFile(`
name: timeouts
jobs:
  a: { run: sleep 600, timeout: 1 }
  b:
    steps:
      - { run: sleep 600, timeout: 1 }
      - { run: echo never }
  c: { run: echo quick, timeout: 600 }
`);
  expect(a).toMatchObject({ state: 'failed', error: expect.stringMatching(/^timeout after 1s/) });
  expect(b).toMatchObject({ state: 'failed', error: expect.stringMatching(/timeout after 1s/) });
  expect(c).toMatchObject({ state: 'completed' });
  expect(await log('b')).not.toContain('never');
  expect((await walk.ask('GET', '/api/workflows/w/jobs/a/logs')).status).toBe(200);
});

test('23: what exceeds its timeout is tried again like any failure', async () => {
  const { a } = await runFile(`
name: timeouts
jobs:
  a: { run: 'test "$WFG_TRY" = 2 || sleep 600', timeout: 1, retries: 1 }
`);
  expect(a).toMatchObject({ state: 'completed', attempt: 1, tries: 2 });
});

test('24: conditions decide what runs; what needs a skipped job is skipped', async () => {
  const jobs = await runFile(`
name: conditions
env: { STAGE: test }
jobs:
  bad: { run: exit 1 }
  good: { run: 'echo "::set-output go=yes"' }
  live: { run: echo x, if: env.STAGE == 'live' }
  test: { run: echo x, if: env.STAGE == 'test' }
  told: { run: echo x, needs: good, if: needs.good.outputs.go == 'yes' }
  after-live: { run: echo x, needs: live }
  rescue: { run: echo x, needs: bad, if: failure() }
  never: { run: echo x, needs: good, if: failure() }
  always: { run: echo x, needs: [bad, live], if: always() }
  plain: { run: echo x, needs: bad }
  steps:
    steps:
      - { run: echo first; exit 1 }
      - { run: echo second }
      - { run: echo third, if: failure() }
`);
  expect(Object.fromEntries(Object.values(jobs).map((job) => [job.job_id, Job.parse(job).state]))).toEqual({
    bad: 'failed',
    good: 'completed',
    live: 'skipped',
    test: 'completed',
    told: 'completed',
    'after-live': 'skipped',
    rescue: 'completed',
    never: 'skipped',
    always: 'completed',
    plain: 'skipped',
    steps: 'failed',
  });
  const steps = (await log('steps')).split('\n').filter((line) => !line.startsWith('==='));
  expect(steps).toEqual(['first', 'third', '']);
});

test.each(["env.STAGE = 'live'", 'needs.other.result', 'nonsense()', 'github.ref == 1', '(('])(
  '24: the condition %s is refused when the workflow is created',
  async (condition) => {
    const yaml = `name: n\njobs:\n  a:\n    run: x\n    if: ${JSON.stringify(condition)}\n  other: { run: x }\n`;
    const { status, body } = await walk.ask('PUT', '/api/workflows/refused', yaml, {
      'content-type': 'application/yaml',
    });
    expect(status).toBe(422);
    expect(z.object({ errors: z.array(z.object({ path: z.string() })) }).parse(body).errors[0]?.path).toBe(
      'jobs.a.if',
    );
    expect((await walk.ask('GET', '/api/workflows/refused/status')).status).toBe(404);
  },
);
