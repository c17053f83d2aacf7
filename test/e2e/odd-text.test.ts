// What jobs say that PostgreSQL cannot store, or that would take over who reads it.
import { fileURLToPath } from 'node:url';
import { getJob } from '@wfg/shared/contract/routes/jobs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { testDatabase, type TestDatabase } from '../support/postgres.ts';
import { ODD_NAME, ODD_SHELL } from '../support/odd-text.ts';
import { runWfg } from '../support/wfg.ts';

const HANDLERS = fileURLToPath(new URL('../support/handlers.ts', import.meta.url));
const MIB = 1024 * 1024;

let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  database = await testDatabase();
  cluster = await startCluster(database, { env: { WFG_MODULES: HANDLERS } });
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const textOf = async (run: string, job: string) =>
  (await cluster.logs(run, job)).map(({ data }) => data).join('');

test('known fault 35: a command may print, give out and fail with anything', async () => {
  const run = await cluster.submit({
    name: ODD_NAME,
    jobs: {
      prints: { name: ODD_NAME, run: ODD_SHELL },
      outputs: { run: `{ printf 'v='; { ${ODD_SHELL}; } | head -n1; echo after=1; } >> "$WFG_OUTPUT"` },
      fails: { run: `{ ${ODD_SHELL}; } >&2; exit 3` },
      long: { run: `head -c ${10 * MIB} /dev/zero | tr '\\0' x` },
    },
  });
  const ended = await cluster.ended(run);
  expect(ended.status).toBe('failed');
  expect(ended.jobs.map(({ state }) => state)).toEqual(['completed', 'completed', 'failed', 'completed']);
  expect(ended.jobs[0]?.name).toBe(ended.name);
  // NUL and what is no UTF-8 can be seen; all else is as it was printed, for those who show it to make harmless.
  const told = 'nul \u2400 surrogate \ufffd\ufffd\ufffd invalid \ufffd ';
  expect(await textOf(run, 'prints')).toContain(told);
  expect(ended.jobs[2]?.error).toContain(told);
  const { outputs } = await cluster.wfg(getJob, { params: { run, job: 'outputs' } });
  expect(outputs).toMatchObject({ v: expect.stringContaining(told), after: '1' });
  for (const args of [['show', run], ['show', run, 'fails'], ['runs']]) {
    const { code, stdout } = await runWfg(args, { WFG_URL: cluster.url });
    expect({ code, controls: stdout.match(/(?!\n)\p{Cc}/gu) }).toEqual({ code: 0, controls: null });
  }
  const long = await cluster.logs(run, 'long');
  expect(long.reduce((sum, { data }) => sum + data.length, 0)).toBe(10 * MIB);
  expect(long.every(({ line }) => line === 1)).toBe(true);
});

test('known fault 35: a handler may be given, print, give out and throw anything', async () => {
  const text = 'nul \0 lone \ud800 clip \u001b]52;c;ZXZpbA==\u0007 end';
  const given = { text, outputs: { v: text, '\0 \ud800': '1' } };
  const ids = [];
  for (const type of ['test.print', 'test.throw']) {
    const body = JSON.stringify({ workflow_type: type, payload: given, max_attempts: 1 });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${cluster.url}/workflows`, { method: 'POST', headers, body });
    expect(answer.status).toBe(201);
    ids.push(String(Object(await answer.json()).id));
  }
  const [prints = '', throws = ''] = ids;
  expect(await cluster.ended(prints)).toMatchObject({ status: 'completed' });
  expect(await cluster.ended(throws)).toMatchObject({ status: 'failed' });
  const stored = 'nul \u2400 lone \ufffd clip \u001b]52;c;ZXZpbA==\u0007 end';
  expect(await textOf(prints, 'main')).toContain(stored);
  expect(Object.values(await cluster.outputs(prints, 'main'))).toContain(stored);
  expect((await cluster.run(throws)).jobs[0]?.error).toContain(stored);
});
