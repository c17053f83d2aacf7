// Workflow files: rows 14 to 20 and 25. What their jobs do when they run is in file-jobs.test.ts.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WorkflowView } from '@wfg/shared/contract/workflow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { emptyFolder, startApi, type TestApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

let db: TestDatabase;
let api: TestApi;
let folder: string;

const FILES = {
  'ci.yml': 'name: CI\non: push\njobs:\n  build: { run: make }\n  test: { needs: build, run: make test }\n',
  'night.build.yaml': 'name: Night\non: [schedule, manual]\njobs: {}\n',
  'data.json': JSON.stringify({
    name: 'Data',
    on: { push: { branches: ['main'] } },
    jobs: { a: { run: 'echo' } },
  }),
  'bad.yml': 'name: Bad\njobs:\n  a: { run: x, needs: gone }\n',
  'worse.json': '{"name": ',
  'notes.txt': 'name: Notes\njobs: {}\n',
};

beforeAll(async () => {
  db = await testDatabase();
  folder = await emptyFolder();
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
  api = await startApi(db.url, { WORKFLOWS_DIR: folder });
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const YAML = { 'content-type': 'application/yaml' };
const post = (yaml: string) => api.ask('POST', '/api/workflows', yaml, YAML);
const show = async (id: string) =>
  WorkflowView.parse((await api.ask('GET', `/api/workflows/${id}/status`)).body);

async function ids(of = api): Promise<string[]> {
  const { body } = await of.ask('GET', '/api/workflows');
  return z
    .array(WorkflowView)
    .parse(body)
    .map(({ id }) => id);
}

/** The warnings about a file of this name. */
const warnings = (name: string, of = api) =>
  of.logs.filter(({ level, msg }) => level === 'warn' && msg?.includes(name)).map(({ msg }) => msg);

test('14: the files of WORKFLOWS_DIR are there from the start by their stems, a bad one is told of', async () => {
  expect((await ids()).sort()).toEqual(['ci', 'data', 'night.build']);
  const { name, trigger, jobs } = await show('ci');
  expect({ name, trigger }).toEqual({ name: 'CI', trigger: 'on: push' });
  expect(jobs.map(({ id, command, depends_on }) => ({ id, command, depends_on }))).toEqual([
    { id: 'build', command: 'make', depends_on: [] },
    { id: 'test', command: 'make test', depends_on: ['build'] },
  ]);
  expect(warnings('bad.yml')).toEqual([expect.stringMatching(/line 3, column \d+: .*'gone'/)]);
  expect(warnings('worse.json')).toEqual([expect.stringContaining('line 1')]);
});

test('14: files are read anew when the api is told to', async () => {
  await writeFile(join(folder, 'later.yml'), 'name: Later\njobs: {}\n');
  api.signal('SIGHUP');
  await waitFor('the new file', async () => (await ids()).includes('later'));
  expect(await show('later')).toMatchObject({ name: 'Later' });
});

test('15: a JSON file is one too', async () => {
  expect(await show('data')).toMatchObject({
    name: 'Data',
    trigger: 'on: [push]',
    jobs: [{ id: 'a', command: 'echo' }],
  });
});

test.each([
  ['is empty', {}],
  ['has only a bad file', { 'bad.yml': FILES['bad.yml'] }],
])('16: where the folder %s there is the sample', async (_, files) => {
  await using database = await testDatabase();
  const dir = await emptyFolder();
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  await using own = await startApi(database.url, { WORKFLOWS_DIR: dir });
  expect(await ids(own)).toEqual(['ci-1']);
});

/** What the second of two jobs needs when it is written so. */
async function neededBy(written: string): Promise<string[] | undefined> {
  const { status, body } = await post(`name: n\njobs:\n  a: { run: x }\n  b: { run: x${written} }\n`);
  expect(status).toBe(201);
  return WorkflowView.parse(body).jobs[1]?.depends_on;
}

test('17: needs is an id or a list of ids', async () => {
  expect(await neededBy(', needs: a')).toEqual(['a']);
  expect(await neededBy(', needs: [a]')).toEqual(['a']);
  expect(await neededBy('')).toEqual([]);
  expect(await neededBy(', needs: []')).toEqual([]);
  expect(await neededBy(', needs: null')).toEqual([]);
});

const job = (id: string, ...depends_on: string[]) => ({ id, name: id, command: 'x', depends_on });

/** What the two forms of a workflow are refused with. */
async function refusals(yaml: string, jobs: unknown[]): Promise<[string, string]> {
  const before = await ids();
  const filed = await post(yaml);
  const listed = await api.ask('POST', '/api/workflows', { name: 'n', trigger: '', jobs });
  expect([filed.status, listed.status]).toEqual([422, 422]);
  expect(await ids()).toEqual(before);
  return [Object(filed.body).detail, Object(listed.body).detail];
}

test('18: an unknown dependency is refused by the names of both', async () => {
  const text = "Job 'build' depends on 'setup', which doesn't exist";
  const yaml = 'name: n\njobs:\n  build: { run: x, needs: setup }\n';
  for (const detail of await refusals(yaml, [job('build', 'setup')])) expect(detail).toContain(text);
});

test('19: a job with nothing to execute is refused', async () => {
  const text = "Job must have either 'run' or 'steps'";
  for (const body of ['{}', '{ steps: [] }', '{ run: "" }', '{ steps: [{ name: x }] }'])
    expect(Object((await post(`name: n\njobs:\n  a: ${body}\n`)).body).detail).toContain(text);
  const listed = { name: 'n', trigger: '', jobs: [{ ...job('a'), command: ' ' }] };
  expect(await api.ask('POST', '/api/workflows', listed)).toMatchObject({ status: 422 });
});

test.each([
  ['a job that needs itself', 'a: { run: x, needs: a }', [job('a', 'a')], 'a -> a'],
  [
    'a circle',
    'root: { run: x }\n  a: { run: x, needs: [root, c] }\n  b: { run: x, needs: a }\n  c: { run: x, needs: b }',
    [job('root'), job('a', 'root', 'c'), job('b', 'a'), job('c', 'b')],
    'a -> c -> b -> a',
  ],
])('20: %s is refused by its path', async (_, yaml, jobs, path) => {
  for (const detail of await refusals(`name: n\njobs:\n  ${yaml}\n`, jobs)) expect(detail).toContain(path);
});

test('20: a file with a circle is told of, and the rest is there', async () => {
  await writeFile(
    join(folder, 'circle.yml'),
    'name: n\njobs:\n  a: { run: x, needs: b }\n  b: { run: x, needs: a }\n',
  );
  await writeFile(join(folder, 'zz.yml'), 'name: n\njobs: {}\n');
  api.signal('SIGHUP');
  await waitFor('the file behind it', async () => (await ids()).includes('zz'));
  expect(await ids()).not.toContain('circle');
  expect(warnings('circle.yml')).toEqual([expect.stringContaining('a -> b -> a')]);
});

test.each([
  ['push', 'on: push'],
  ['[push, pull_request]', 'on: [push, pull_request]'],
  ['{ push: { branches: [main] }, schedule: [] }', 'on: [push, schedule]'],
  ['{}', 'on: []'],
])('25: the trigger %s is shown as %s', async (on, trigger) => {
  expect((await post(`name: n\non: ${on}\njobs: {}\n`)).body).toMatchObject({ trigger });
});
