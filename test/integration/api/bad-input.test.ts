// Every route that the document names is driven with input generated from it, good and bad: none may fail, hang, or
// change a row by what it refuses. Routes to come are in it by themselves.
import { Problem } from '@wfg/shared/contract/problem';
import { sample } from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, type TestApi } from '../../support/api.ts';
import { type Interface, type Operation, readInterface } from '../../support/bad-input/document.ts';
import { KnownIds } from '../../support/bad-input/known-ids.ts';
import { type RawRequest, requestText, requestTo } from '../../support/bad-input/request.ts';
import { type RawAnswer, sendRaw } from '../../support/bad-input/send.ts';
import { claim, print, submit } from '../../support/engine.ts';
import { claimedHttp } from '../../support/foreign.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

/** To each; fewer when the machine is slow, so that all of them together take no longer than this. */
const RUNS = 60;
const BUDGET_MS = 20_000;
const SEED = 1;
const LEASES = 12;

let db: TestDatabase;
let api: TestApi;
let described: Interface;
/** Of every table, as they are now. */
let rows: Record<string, string>;
const ids = new KnownIds();

const TOKEN = 'a-token-for-tests-1';
const authorization = `Bearer ${TOKEN}`;

beforeAll(async () => {
  db = await testDatabase();
  api = await startApi(db.url, { WFG_ADMIN_TOKEN: TOKEN });
  const ask: TestApi['ask'] = (method, path, body) => api.ask(method, path, body, { authorization });
  described = readInterface((await ask('GET', '/openapi.json')).body);
  await ask('PUT', '/api/workflows/w', { name: 'w', jobs: { a: { run: 'true' } } });
  ids.add('workflow', 'w');
  ids.add('job', 'a');
  ids.add('run', await submit(db.pool, { a: {} }));
  const [job] = await claim(db.pool, { limit: 1 });
  if (job) await print(db.pool, job, 0, 2);
  await submit(db.pool, Object.fromEntries(Array.from({ length: LEASES }, (_, n) => [`j${n}`, {}])));
  for (let n = 0; n < LEASES; n++) ids.add('lease', (await claimedHttp({ ask })).lease.lease_id);
  rows = await digest();
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** Count and sum of the rows of every table, by its name; but for when the token was last seen. */
async function digest(): Promise<Record<string, string>> {
  digestSql ??= await digestStatement();
  const found = await db.pool.query<{ name: string; sum: string }>({ name: 'digest', text: digestSql });
  return Object.fromEntries(found.rows.map(({ name, sum }) => [name, sum]));
}
let digestSql: string | undefined;

async function digestStatement(): Promise<string> {
  const found = await db.pool.query<{ sql: string }>(
    `select string_agg(format(
         'select %L as name, concat(count(*), '':'', sum(hashtextextended(row::text, 0)::numeric)) as sum from %I row',
         relname, relname
       ), ' union all ') as sql
     from pg_class where relname like 'wfg\\_%' and relname <> 'wfg_tokens' and relkind in ('r', 'p') and not relispartition`,
  );
  return found.rows[0]?.sql ?? '';
}

/** What is wrong with an answer; null if nothing is. */
function faultOf({ statuses }: Operation, { status, type, body }: RawAnswer): string | null {
  if (statuses.includes(String(status))) return null;
  if (status >= 500) return 'an error of the server';
  if (status < 400) return 'a status that the document does not have';
  if (type !== 'application/problem+json') return 'no problem';
  const problem = Problem.parse(JSON.parse(body));
  if (described.codes.get(problem.code) !== status)
    return 'a code that the document does not have for the status';
  return problem.status === status && problem.detail !== '' ? null : 'a problem that does not say what it is';
}

/** Sends the request, and finds what is wrong with the answer, or with the rows when it refuses. */
async function drive(
  operation: Operation,
  request: RawRequest,
): Promise<{ answer: RawAnswer; faults: string[] }> {
  const told = `${operation.name}: ${requestText(request)}`;
  const headers = { authorization, ...request.headers };
  const answer = await sendRaw(api.url, { ...request, headers }).catch((cause: unknown) => {
    throw new Error(told, { cause });
  });
  const before = rows;
  rows = await digest();
  const changed = Object.keys(rows).filter((table) => rows[table] !== before[table]);
  const faults = [faultOf(operation, answer), ...changed.map((table) => `refused, and ${table} has changed`)];
  const found = answer.status < 400 ? faults.slice(0, 1) : faults;
  return {
    answer,
    faults: found
      .filter((fault) => fault !== null)
      .map((fault) => `${fault}: ${told} → ${answer.status} ${answer.body}`),
  };
}

test('no input makes a route fail or hang, and none that is refused changes a row', async () => {
  const { operations, shape } = described;
  const start = performance.now();
  const found: string[] = [];
  for (const [index, operation] of operations.entries()) {
    const until = start + (BUDGET_MS * (index + 1)) / operations.length;
    for (const request of sample(requestTo(operation, shape, ids), { seed: SEED, numRuns: RUNS })) {
      if (performance.now() > until) break;
      const { answer, faults } = await drive(operation, request);
      found.push(...faults);
      if (answer.status < 300 && answer.body.length < 100_000) ids.learn(answer.body);
    }
  }
  expect(found).toEqual([]);
  expect(operations.length).toBeGreaterThan(30);
});

test('a body that is too large is refused by every route that reads one', async () => {
  const reading = described.operations.filter(({ bodies }) => 'application/json' in bodies);
  for (const operation of reading) {
    const { name, method, bodies } = operation;
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, kind) => ids.of(kind)[0] ?? '');
    // Workflows may be larger than what else there is.
    const size = ('application/yaml' in bodies ? 17 : 5) * 1024 * 1024;
    const headers = { 'content-type': 'application/json' };
    const request = { method, path, headers, body: Buffer.alloc(size, ' '), chunked: true };
    const { answer, faults } = await drive(operation, request);
    expect([name, answer.status, faults]).toEqual([name, 413, []]);
  }
});
