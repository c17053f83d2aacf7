import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { emptyFolder, startApi, type TestApi } from '../../support/api.ts';
import { testDatabase } from '../../support/postgres.ts';

let folder: string;

beforeEach(async () => {
  folder = await emptyFolder();
});

const write = (name: string, text: string) => writeFile(join(folder, name), text);
const workflow = (name: string) => `name: ${name}\njobs:\n  a:\n    run: echo ${name}\n`;
const nameOf = async (api: TestApi, id: string) =>
  Object(await api.ask('GET', `/api/workflows/${id}/status`)).body.name;

/** Each reading ends with a line of its own. */
async function reread(api: TestApi): Promise<void> {
  const readings = () => api.logs.filter((line) => line.msg === 'workflow files read').length;
  const before = readings();
  api.signal('SIGHUP');
  await expect.poll(readings, { timeout: 5_000 }).toBeGreaterThan(before);
}

test('files are stored under their stems; a bad one is named with its place and does not stop the rest', async () => {
  await write('one.yml', workflow('One'));
  await write('two.json', '{"name": "Two", "jobs": {}}');
  await write('bad.yaml', 'name: bad\njobs:\n  a:\n    rnu: echo\n');
  await write('broken.yml', 'name: [\n');
  await write('one.json', '{"name": "Another", "jobs": {}}');
  await write('a b.yml', workflow('Space'));
  await write('large.yml', '');
  await truncate(join(folder, 'large.yml'), 16 * 1024 * 1024 + 1);
  execFileSync('mkfifo', [join(folder, 'pipe.yml')]);
  await write('notes.txt', 'no workflow');
  await using db = await testDatabase();
  await using api = await startApi(db.url, { WORKFLOWS_DIR: folder });

  const { body } = await api.ask('GET', '/api/workflows');
  expect(
    Object(body)
      .map((stored: { id: string }) => stored.id)
      .sort(),
  ).toEqual(['one', 'two']);
  const warnings = api.logs.filter((line) => line.level === 'warn').map((line) => line.msg);
  expect(warnings).toEqual([
    expect.stringMatching(/a b\.yml: its name must match/),
    expect.stringMatching(/one\.yml: .*one\.json has the same id/),
    expect.stringMatching(/bad\.yaml: line 4, column \d+: .*rnu/),
    expect.stringMatching(/broken\.yml: YAML parse error: line \d+, column \d+/),
    expect.stringMatching(/large\.yml: it is larger than 16 MiB/),
    expect.stringMatching(/pipe\.yml: it is no file/),
  ]);
});

test('a PUT stays until the file changes, and a definition stays when its file vanishes', async () => {
  await write('w.yml', workflow('First'));
  await using db = await testDatabase();
  {
    await using api = await startApi(db.url, { WORKFLOWS_DIR: folder });
    await api.ask('PUT', '/api/workflows/w', { name: 'Put', jobs: {} });
    await reread(api);
    expect(await nameOf(api, 'w')).toBe('Put');
  }
  await using api = await startApi(db.url, { WORKFLOWS_DIR: folder });
  expect(await nameOf(api, 'w')).toBe('Put');
  await write('w.yml', workflow('Second'));
  await reread(api);
  expect(await nameOf(api, 'w')).toBe('Second');
  await rm(join(folder, 'w.yml'));
  await reread(api);
  expect(await nameOf(api, 'w')).toBe('Second');
});

test('a file is known by its text alone, whatever this version of wfg makes of it', async () => {
  const text = workflow('First');
  await write('w.yml', text);
  await using db = await testDatabase();
  await using api = await startApi(db.url, { WORKFLOWS_DIR: folder });
  expect(await nameOf(api, 'w')).toBe('First');
  const { rows } = await db.pool.query('select file_hash from wfg_workflows');
  expect(rows).toEqual([{ file_hash: createHash('sha256').update(text).digest('hex') }]);
});

test('several apis may start at once, and the sample stands in only where there is nothing', async () => {
  for (let n = 0; n < 20; n++) await write(`w${n}.yml`, workflow(`w${n}`));
  await using db = await testDatabase();
  await using apis = new AsyncDisposableStack();
  const start = async () => apis.use(await startApi(db.url, { WORKFLOWS_DIR: folder }));
  const [one] = await Promise.all([start(), start(), start()]);
  const { body } = await one.ask('GET', '/api/workflows');
  expect(body).toHaveLength(20);
  expect(body).not.toContainEqual(expect.objectContaining({ id: 'ci-1' }));
});
