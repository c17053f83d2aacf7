// known fault 25: a graph that could never end is refused on every way in, by the path of its cycle, and nothing of it is
// stored.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { emptyFolder, startApi, type TestApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { refusalOf } from '../../support/sql.ts';
import { waitFor } from '../../support/wait-for.ts';
import { runWfg } from '../../support/wfg.ts';

type Needs = Record<string, string[]>;

let db: TestDatabase;
let folder: string;
let api: TestApi;

beforeAll(async () => {
  db = await testDatabase();
  folder = await emptyFolder();
  api = await startApi(db.url, { WORKFLOWS_DIR: folder });
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const map = (graph: Needs) => ({
  name: 'w',
  jobs: Object.fromEntries(Object.entries(graph).map(([id, needs]) => [id, { run: 'true', needs }])),
});
/** As workflow-graph has it. */
const list = (graph: Needs) => ({
  name: 'w',
  trigger: 'on: push',
  jobs: Object.entries(graph).map(([id, depends_on]) => ({ id, name: id, command: 'true', depends_on })),
});

/** How many rows each table has. */
async function rowCounts(): Promise<Record<string, number>> {
  const tables = await db.pool.query<{ count: string }>(`
    select format('select %1$L as name, count(*) from %1$I', relname) as count
    from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')`);
  const counts = tables.rows.map(({ count }) => count).join(' union all ');
  const { rows } = await db.pool.query<{ name: string; count: number }>(counts);
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

/** What a request is answered with, which has a key that nothing may be remembered of. */
async function refused(
  method: string,
  path: string,
  body: unknown,
  type = 'application/json',
): Promise<string> {
  const headers = { 'content-type': type, 'idempotency-key': 'mine' };
  const answer = await api.ask(method, path, body, headers);
  expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_workflow', errors: [{}] } });
  return Object(answer.body).detail;
}

async function refusedBySql(workflow: unknown): Promise<string> {
  const { code, message } = await refusalOf(db.pool, 'wfg_submit($1)', JSON.stringify(workflow));
  expect(code).toBe('WF001');
  return message;
}

async function refusedByCommand(command: string, workflow: unknown): Promise<string> {
  const { code, stderr } = await runWfg([command, '-'], { WFG_URL: api.url }, JSON.stringify(workflow));
  expect(code).toBe(2);
  return stderr;
}

async function refusedAsFile(workflow: unknown): Promise<string> {
  await writeFile(join(folder, 'bad.json'), JSON.stringify(workflow));
  const before = api.logs.length;
  api.signal('SIGHUP');
  return waitFor('the file to be refused', () => {
    const lines = api.logs.slice(before).map(({ msg }) => msg);
    return lines.includes('workflow files read') && lines.find((line) => line?.includes('bad.json'));
  });
}

const WAYS: Record<string, (graph: Needs) => Promise<string>> = {
  'POST /api/runs': (graph) => refused('POST', '/api/runs', map(graph)),
  'POST /api/runs with an array': (graph) => refused('POST', '/api/runs', list(graph)),
  'POST /api/workflows': (graph) => refused('POST', '/api/workflows', map(graph)),
  'POST /api/workflows with an array': (graph) => refused('POST', '/api/workflows', list(graph)),
  'POST /api/workflows with a file': (graph) =>
    // What is JSON is YAML.
    refused('POST', '/api/workflows', JSON.stringify(map(graph)), 'application/yaml'),
  'PUT /api/workflows/{id}': (graph) => refused('PUT', '/api/workflows/mine', map(graph)),
  wfg_submit: (graph) => refusedBySql(map(graph)),
  'wfg_submit with an array': (graph) => refusedBySql(list(graph)),
  'wfg run': (graph) => refusedByCommand('run', map(graph)),
  'wfg submit': (graph) => refusedByCommand('submit', map(graph)),
  'a file in WORKFLOWS_DIR': (graph) => refusedAsFile(map(graph)),
};

const CIRCLE = 'The jobs need each other in a circle: ';
const GRAPHS: [string, Needs, string][] = [
  [
    'a cycle behind what is well',
    { well: [], a: ['well', 'c'], b: ['a'], c: ['b'], end: ['c'] },
    `${CIRCLE}a -> c -> b -> a`,
  ],
  ['a job that needs itself', { well: [], a: ['well', 'a'] }, `${CIRCLE}a -> a`],
  [
    'a parent that is not there',
    { well: [], a: ['well', 'z'] },
    `Job 'a' depends on 'z', which doesn't exist`,
  ],
];

test.for(
  Object.entries(WAYS).flatMap(([way, submit]) =>
    GRAPHS.map(([what, graph, told]) => [way, what, { submit, graph, told }] as const),
  ),
)('known fault 25: %s refuses %s', async ([, , { submit, graph, told }]) => {
  const before = await rowCounts();
  const text = (await submit(graph)).trimEnd();
  expect(text.slice(text.indexOf(told))).toBe(told);
  expect(await rowCounts()).toEqual(before);
});
