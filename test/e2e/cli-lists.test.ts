// The commands that submit without following, and those that list and show, against real services.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { testDatabase, type TestDatabase } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';
import { runWfg } from '../support/wfg.ts';

const Submitted = z.object({ type: z.literal('submitted'), run_id: z.uuid(), url: z.url() });

let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  database = await testDatabase();
  cluster = await startCluster(database);
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const wfg = (args: string[], input?: string) => runWfg(args, { WFG_URL: cluster.url }, input);

test('submit prints the id of a run that goes on without it', async () => {
  const workflow = 'name: s\nenv: { WHO: file }\njobs: { a: { run: \'echo "w=$WHO" >> "$WFG_OUTPUT"\' } }';
  const { code, stdout, stderr } = await wfg(['submit', '-', '--env', 'WHO=you'], workflow);
  const id = stdout.trimEnd();
  expect({ code, stderr }).toEqual({ code: 0, stderr: `wfg: its page is ${cluster.url}/runs/${id}\n` });
  expect(await cluster.ended(id)).toMatchObject({ name: 's', status: 'completed' });
  expect(await cluster.outputs(id, 'a')).toEqual({ w: 'you' });
});

test('run reads standard input too, and options may stand before the command', async () => {
  const { code, stdout } = await runWfg(
    ['--json', '--url', cluster.url, 'submit', '-'],
    {},
    '{"name":"s","jobs":{"a":{"run":"true"}}}',
  );
  expect(code).toBe(0);
  expect(await cluster.ended(Submitted.parse(JSON.parse(stdout)).run_id)).toMatchObject({ name: 's' });
  expect(await wfg(['run', '-'], 'name: r\njobs: { a: { run: echo hello } }')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('a | hello\n'),
  });
});

test.each([
  [['run', 'none.yml'], 'cannot read none.yml: there is no such file'],
  [['submit', '/'], 'cannot read /: it is a folder'],
  [['submit', '-'], 'standard input: line 2, column 12: jobs.a: '],
  [['--env', 'A=b', 'run', '-'], 'only --url, --token and --json may stand before the command'],
])('wfg %s is refused in words', async (args, words) => {
  const { code, stdout, stderr } = await wfg(args, 'name: x\njobs: { a: 1 }');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(`wfg: ${words}`);
});

test('runs lists the latest ones, and those that are asked for', async () => {
  const failed = await cluster.submit({ name: 'lists', jobs: { a: { run: 'exit 3' } } });
  await cluster.ended(failed);
  const waits = await cluster.submit({ name: 'waits', jobs: { a: { labels: ['nobody'], run: 'true' } } });
  const { stdout, stderr } = await wfg(['runs', '--limit', '2']);
  const [head, first, second, ...rest] = stdout.split('\n');
  expect(head).toMatch(/^STATUS +RUN +ID +AGE +DURATION$/);
  expect(first).toMatch(new RegExp(`^pending +waits.* ${waits} .* -$`));
  expect(second).toMatch(new RegExp(`^failed +lists.* ${failed} .* s$`));
  expect({ rest, stderr }).toEqual({ rest: [''], stderr: '' });
  const { stdout: json } = await wfg(['runs', '--status', 'failed', '--json']);
  expect(JSON.parse(json)).toMatchObject({ run_id: failed, name: 'lists' });
  expect(await wfg(['runs', '--workflow', 'none'])).toMatchObject({ code: 2, stdout: '' });
});

test('show tells of a run and of a job', async () => {
  const run = await cluster.submit({
    name: 'shown',
    jobs: { a: { run: 'echo "v=1" >> "$WFG_OUTPUT"' }, b: { needs: 'a', run: 'exit 3' } },
  });
  await cluster.ended(run);
  expect((await wfg(['show', run])).stdout).toMatch(/\nfailed +b +1\/1 .* worker-1 +exit code 3\n$/);
  expect((await wfg(['show', run, 'a'])).stdout).toMatch(/\noutputs\nv {2}1\n$/);
  const { stdout } = await wfg(['show', run, 'a', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ outputs: { v: '1' }, attempts: [{ outcome: 'completed' }] });
  expect(await wfg(['show', run, 'c'])).toMatchObject({ code: 2, stdout: '' });
});

test('rerun starts what failed again, and retry a job of a run that goes on', async () => {
  const jobs = {
    a: { run: 'echo "v=1" >> "$WFG_OUTPUT"' },
    b: { needs: 'a', run: 'exit 3' },
    held: { labels: ['nobody'], run: 'true' },
  };
  const run = await cluster.submit({ name: 'again', jobs });
  await waitFor('b to fail', async () => (await cluster.run(run)).jobs[1]?.state === 'failed');
  expect(await wfg(['rerun', run])).toMatchObject({ code: 2, stderr: expect.stringContaining('goes on') });
  expect(await wfg(['retry', run, 'b'])).toMatchObject({ code: 0, stdout: 'b is tried again\n' });
  await waitFor('another failure', async () => (await cluster.attempts(run, 'b')).length === 2);
  expect(await wfg(['cancel', run])).toMatchObject({ code: 0 });
  expect(await cluster.ended(run)).toMatchObject({ status: 'cancelled' });
  expect(await wfg(['retry', run, 'b'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('wfg rerun'),
  });
  const { code, stdout, stderr } = await wfg(['rerun', run, '--from', 'b']);
  const id = stdout.trimEnd();
  expect({ code, stderr }).toEqual({ code: 0, stderr: `wfg: its page is ${cluster.url}/runs/${id}\n` });
  expect((await cluster.ended(id)).jobs).toMatchObject([
    { reused_from: run },
    { state: 'failed' },
    { state: 'cancelled' },
  ]);
  const { stdout: shown } = await wfg(['show', id]);
  expect(shown).toMatch(new RegExp(`\ncompleted +a .* taken over from run ${run}\n`));
  expect(shown).toMatch(/\ncancelled +held .* taken over from run /);
  expect(await wfg(['logs', id, 'a'])).toMatchObject({
    stderr: `wfg: a was not run again in run ${id}: wfg logs ${run} a shows what it printed\n`,
  });
});

test('requeue follows what it does for many', async () => {
  await database.pool.query(
    `insert into wfg_jobs (run_id, position, job_id, name, workflow_type, state, kind, required_labels, payload, finished_at, error)
     select wfg_uuid7(), 0, 'main', 'x', 'x', 'failed', 'event', array[':event x'], '{}', now(), 'no' from generate_series(1, 3)`,
  );
  expect(await wfg(['requeue', '--type', 'x'])).toMatchObject({
    code: 0,
    stdout: 'requeued 3 of 3\n',
  });
  expect(await wfg(['requeue', '--type', 'x', '--before', '2020-01-01T00:00:00Z'])).toMatchObject({
    code: 0,
    stdout: 'no dead letter is meant: nothing was requeued\n',
  });
  expect(await wfg(['requeue'])).toMatchObject({ code: 2, stderr: expect.stringContaining('say which') });
});

test.each([
  [['requeue', '--before', 'noon'], '--before must be a time like 2026-07-01T12:00:00Z, and is "noon"'],
  [['enqueue', 'x', '--at', 'noon'], '--at must be a time like 2026-07-01T12:00:00Z, and is "noon"'],
  [['enqueue', 'x', '--priority', '101'], '--priority must be a whole number from -100 to 100, and is 101'],
  [
    ['enqueue', 'x', '--max-attempts', 'ten'],
    '--max-attempts must be a whole number from 1 to 100, and is "ten"',
  ],
  [['dead', ''], 'TYPE must be 1 to 255 characters, none of them a control character, and is ""'],
])('wfg %s is refused by the name of the option', async (args, words) => {
  expect(await wfg(args)).toEqual({ code: 2, stdout: '', stderr: `wfg: ${words}\n` });
});

test('workers lists who there is, and what is wrong with whom', async () => {
  expect((await wfg(['workers'])).stdout).toMatch(/^STATUS .*\nidle +worker-1 +\d+ s +0\/\d+ /);
  expect(JSON.parse((await wfg(['workers', '--json'])).stdout)).toMatchObject({ worker_id: 'worker-1' });
  await database.pool.query(
    `insert into wfg_workers (worker_id, concurrency, problem) values ('bad', 1, 'handlers a.ts: it cannot be loaded')`,
  );
  expect((await wfg(['workers'])).stdout).toMatch(/\nbad: handlers a\.ts: it cannot be loaded\n$/);
});
