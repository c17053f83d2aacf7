// The commands that talk to a server, against real services.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { newGate } from '../support/gate.ts';
import { testDatabase, type TestDatabase } from '../support/postgres.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { waitFor } from '../support/wait-for.ts';
import { CLI, runWfg } from '../support/wfg.ts';

const NOBODY = '0198c5a4-7b1e-7c3d-9a50-3f2b8d6c1e70';
const Created = z.object({ run: z.object({ run_id: z.uuid() }) });

let database: TestDatabase;
let cluster: Cluster;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(inject('runFolder'), 'cli-'));
  database = await testDatabase();
  cluster = await startCluster(database);
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** Starts a command that is to be watched. */
function start(...args: string[]): TestProcess {
  return startProcess('wfg', [CLI, ...args], { WFG_URL: cluster.url });
}

const wfg = (args: string[], env: Record<string, string> = { WFG_URL: cluster.url }) => runWfg(args, env);

const linesOf = (text: string) => text.split('\n').slice(0, -1);
const records = (text: string): unknown[] => linesOf(text).map((line) => JSON.parse(line));

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

test('run shows what happens and ends as the run does', async () => {
  const path = await file(
    'ci.yml',
    `
name: ci
env: { WHO: file }
jobs:
  build: { run: 'echo hello $WHO' }
  test: { needs: build, retries: 1, run: 'echo try $WFG_ATTEMPT; exit $((1 - WFG_ATTEMPT))' }
`,
  );
  const { code, stdout } = await wfg(['run', path, '--env', 'WHO=you']);
  const lines = linesOf(stdout);
  expect(code).toBe(0);
  expect(lines.filter((line) => line.includes('|'))).toEqual([
    'build | hello you',
    'test  | try 0',
    'test  | try 1',
  ]);
  expect(lines.at(-1)).toMatch(/^run \S+ completed in [\d.]+ s: 2 completed$/);
});

test('a failed run is exit code 1, in JSON too', async () => {
  const path = await file(
    'fails.json',
    '{"name":"f","jobs":{"a":{"run":"exit 3"},"b":{"needs":"a","run":"true"}}}',
  );
  const { code, stdout } = await wfg(['run', path, '--json']);
  expect(code).toBe(1);
  expect(records(stdout)[0]).toMatchObject({ type: 'run', run: { name: 'f' } });
  expect(records(stdout).at(-1)).toMatchObject({ type: 'run_finished', status: 'failed' });
});

test('a killed api costs the one who follows nothing', async () => {
  const path = await file(
    'ticks.yml',
    'name: t\njobs: { a: { run: "for i in 1 2 3 4 5 6; do echo $i; sleep 0.5; done" } }',
  );
  const run = start('run', path);
  await run.logged('a | 2');
  await cluster.kill('api');
  expect(await run.ended).toMatchObject({ code: 0 });
  await waitFor('the last line', () => / completed in /.test(run.logs.at(-1)?.msg ?? ''));
  const lines = run.logs.map(({ msg = '' }) => msg);
  expect(lines.filter((line) => line.startsWith('a |'))).toEqual(
    [1, 2, 3, 4, 5, 6].map((tick) => `a | ${tick}`),
  );
});

test('logs gives the output as it was, and with -f to its end', async () => {
  const run = await cluster.submit({
    name: 'l',
    jobs: { a: { retries: 1, run: 'echo $WFG_ATTEMPT; sleep 0.2; printf end; exit $((1 - WFG_ATTEMPT))' } },
  });
  const both = { code: 0, stdout: '0\nend1\nend', stderr: 'wfg: attempt 1:\n' };
  expect(await wfg(['logs', run, 'a', '-f'])).toEqual(both);
  expect(await wfg(['logs', run, 'a'])).toEqual(both);
  expect(await wfg(['logs', run, 'a', '--attempt', '1'])).toEqual({ code: 0, stdout: '1\nend', stderr: '' });
  const { stdout } = await wfg(['logs', run, 'a', '--json', '--attempt', '0']);
  expect(records(stdout)[0]).toMatchObject({ type: 'log', run_id: run, job_id: 'a', sequence: 0, line: 1 });
  const none = { code: 1, stdout: '', stderr: 'wfg: a has no attempt 2: it has 0 to 1\n' };
  expect(await wfg(['logs', run, 'a', '--attempt', '2'])).toEqual(none);
  expect(await wfg(['logs', run, 'a', '--attempt', '2', '-f'])).toEqual(none);
});

test('cancel asks for the end, and whoever follows sees it', async () => {
  const path = await file('waits.yml', 'name: w\njobs: { a: { labels: [nobody], run: "true" } }');
  const run = start('run', path, '--json');
  const id = await waitFor('the run', () => Created.parse(run.logs[0]).run.run_id);
  expect(await wfg(['cancel', id])).toEqual({ code: 0, stdout: `asked run ${id} to end\n`, stderr: '' });
  expect(await run.ended).toMatchObject({ code: 1 });
  await waitFor('the last line', () => run.logs.at(-1)?.status === 'cancelled');
  expect(await wfg(['cancel', id])).toMatchObject({ code: 0, stdout: `run ${id} is cancelled already\n` });
  expect(await wfg(['cancel', NOBODY])).toMatchObject({
    code: 2,
    stderr: `wfg: there is no run ${NOBODY}\n`,
  });
});

test('one job of a run is cancelled, and the others go on', async () => {
  const job = { labels: ['nobody'], run: 'true' };
  const run = await cluster.submit({ name: 'w', jobs: { a: job, b: job } });
  const asked = { code: 0, stdout: `asked a of run ${run} to end\n`, stderr: '' };
  expect(await wfg(['cancel', run, 'a'])).toEqual(asked);
  const { jobs } = await cluster.run(run);
  expect(jobs.map(({ state }) => state)).toEqual(['cancelled', 'pending']);
  expect(await wfg(['cancel', run, 'a'])).toMatchObject({ stdout: `a of run ${run} is cancelled already\n` });
  expect(await wfg(['cancel', run, 'c'])).toMatchObject({
    code: 2,
    stderr: `wfg: there is no job c in run ${run}\n`,
  });
});

test('who stops following leaves the run going', async () => {
  const gate = newGate();
  const path = await file('long.yml', `name: w\njobs: { a: { run: "echo on; ${gate.wait}" } }`);
  const run = start('run', path);
  await run.logged('a | on');
  run.signal('SIGINT');
  expect(await run.ended).toMatchObject({ code: 130 });
  const id = await waitFor('how to cancel', () => /wfg cancel (\S+)$/.exec(run.logs.at(-1)?.msg ?? '')?.[1]);
  await gate.open();
  expect(await cluster.ended(id)).toMatchObject({ status: 'completed' });
});

test('a server that is not there is exit code 3', async () => {
  const { code, stderr } = await wfg(['cancel', NOBODY, '--url', 'http://127.0.0.1:2']);
  expect(code).toBe(3);
  expect(stderr).toMatch(/^wfg: cannot reach wfg at .*: check that it is running.*\n$/);
});

test('migrate says what it did', async () => {
  await using empty = await testDatabase({ empty: true });
  const migrate = () => wfg(['migrate'], { DATABASE_URL: empty.url });
  const { stdout, stderr } = await migrate();
  const applied = linesOf(stdout);
  expect(applied[0]).toMatch(/^applied 0001/);
  expect({ stderr, twice: applied.length - new Set(applied).size }).toEqual({ stderr: '', twice: 0 });
  expect(await migrate()).toEqual({ code: 0, stdout: 'the schema is up to date\n', stderr: '' });
  expect(await wfg(['migrate'], { DATABASE_URL: 'postgres://a@127.0.0.1:2/a' })).toMatchObject({ code: 3 });
});
