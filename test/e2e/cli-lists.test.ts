// The commands that submit without following, and those that list and show, against real services.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { testDatabase, type TestDatabase } from '../support/postgres.ts';
import { runWfg } from '../support/wfg.ts';

const Submitted = z.object({ type: z.literal('submitted'), run_id: z.uuid(), url: z.url() });

let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  database = await testDatabase();
  cluster = await startCluster(database);
}, 60_000);
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
}, 60_000);

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
  [['--env', 'A=b', 'run', '-'], 'only --url and --json may stand before the command'],
])('wfg %s is refused in words', async (args, words) => {
  const { code, stdout, stderr } = await wfg(args, 'name: x\njobs: { a: 1 }');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(`wfg: ${words}`);
});
