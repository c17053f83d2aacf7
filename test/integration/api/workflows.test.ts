import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startApi, type TestApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await testDatabase();
  api = await startApi(db.url);
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const graphJob = (id: string, depends_on: string[] = []) => ({ id, name: id, command: 'true', depends_on });

test('an empty database gets the sample', async () => {
  const { status, body } = await api.ask('GET', '/api/workflows');
  expect(status).toBe(200);
  expect(body).toMatchObject([{ id: 'ci-1', name: 'ci.yml', trigger: 'on: push' }]);
});

test('workflow-graph’s array comes back with every key, and what the server decides is ignored', async () => {
  const sent = {
    id: 'mine',
    name: 'graph',
    trigger: 'on: push',
    jobs: [
      { ...graphJob('a'), status: 'success', attempt: 7, metadata: { big: 1 }, required_labels: ['gpu'] },
      graphJob('b', ['a']),
    ],
  };
  const { status, headers, body } = await api.ask('POST', '/api/workflows', sent);
  expect(status).toBe(201);
  expect(headers.get('location')).toMatch(/^\/api\/workflows\/[0-9a-f-]{36}\/status$/);
  expect(body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: 'graph',
    trigger: 'on: push',
    jobs: [
      {
        id: 'a',
        name: 'a',
        status: 'queued',
        command: 'true',
        duration_secs: null,
        started_at: null,
        depends_on: [],
        output: null,
        required_labels: ['gpu'],
        max_retries: 0,
        attempt: 0,
        metadata: { big: 1 },
        ports: [],
        children: null,
        collapsed: false,
      },
      expect.objectContaining({ id: 'b', depends_on: ['a'], required_labels: [] }),
    ],
  });
  const shown = await api.ask('GET', headers.get('location') ?? '');
  expect(shown.body).toEqual(body);
});

test('a file’s text is taken as YAML', async () => {
  const text =
    'name: filed\non: [push, manual]\njobs:\n  one:\n    run: echo\n  two: {needs: one, run: echo}\n';
  const { status, body } = await api.ask('POST', '/api/workflows', text, {
    'content-type': 'application/yaml',
  });
  expect(status).toBe(201);
  expect(body).toMatchObject({ name: 'filed', trigger: 'on: [push, manual]' });
});

test('integers beyond 2^53 and text that PostgreSQL cannot store survive in metadata', async () => {
  const text =
    '{"name":"a\\u0000b","jobs":[{"id":"x","name":"x","command":"true","depends_on":[],"metadata":{"n":12345678901234567890,"s":"\\ud800"}}]}';
  const created = await fetch(`${api.url}/api/workflows`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: text,
  });
  expect(created.status).toBe(201);
  const answer = await created.text();
  expect(answer).toContain('"metadata":{"n":12345678901234567890,"s":"�"}');
  expect(answer).toContain('"name":"a␀b"');
});

test('PUT creates, then replaces; DELETE removes', async () => {
  const body = { name: 'put', jobs: { a: { run: 'true' } } };
  expect(await api.ask('PUT', '/api/workflows/put.1', body)).toMatchObject({
    status: 201,
    body: { id: 'put.1' },
  });
  const replaced = await api.ask('PUT', '/api/workflows/put.1', { ...body, name: 'again' });
  expect(replaced).toMatchObject({ status: 200, body: { id: 'put.1', name: 'again' } });
  expect((await api.ask('DELETE', '/api/workflows/put.1')).status).toBe(204);
  expect((await api.ask('DELETE', '/api/workflows/put.1')).status).toBe(404);
  expect((await api.ask('GET', '/api/workflows/put.1/status')).status).toBe(404);
});

test('the sample can be stored again', async () => {
  await api.ask('DELETE', '/api/workflows/ci-1');
  const { status, body } = await api.ask('POST', '/api/workflows/sample');
  expect(status).toBe(201);
  expect(body).toMatchObject({ id: 'ci-1', jobs: { length: 8 } });
});

/** The ids of a page, and where Link leads. */
async function pageAt(path: string): Promise<{ ids: string[]; next: string | undefined }> {
  const { status, body, headers } = await api.ask('GET', path);
  expect(status).toBe(200);
  const ids = z.array(z.object({ id: z.string() })).parse(body);
  return {
    ids: ids.map(({ id }) => id),
    next: /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1],
  };
}

test('lists are newest first, in pages that Link leads through and that no newcomer shifts', async () => {
  for (const id of ['page-1', 'page-2', 'page-3']) {
    await api.ask('PUT', `/api/workflows/${id}`, { name: id, jobs: {} });
  }
  const before = (await pageAt('/api/workflows')).ids;
  const ids: string[] = [];
  for (let path: string | undefined = '/api/workflows?limit=2&offset=0'; path !== undefined; ) {
    const page = await pageAt(path);
    ids.push(...page.ids);
    path = page.next;
    await api.ask('PUT', `/api/workflows/late-${ids.length}`, { name: 'late', jobs: {} });
  }
  expect(ids.slice(0, 3)).toEqual(['page-3', 'page-2', 'page-1']);
  expect(ids).toEqual(before);
  expect((await pageAt('/api/workflows')).ids[0]).toMatch(/^late-/);
});

test('`offset` passes over workflows, as it did in workflow-graph', async () => {
  const all = (await pageAt('/api/workflows')).ids;
  const { ids, next } = await pageAt('/api/workflows?limit=1&offset=2');
  expect(ids).toEqual(all.slice(2, 3));
  expect((await pageAt(next ?? '')).ids).toEqual(all.slice(3, 4));
  expect(await pageAt('/api/workflows?limit=0')).toEqual({ ids: [], next: undefined });
});

test('large workflows make short pages', async () => {
  const run = '#'.repeat(1024 * 1024 - 100);
  const jobs = { a: { run }, b: { run }, c: { run } };
  for (const id of ['large-1', 'large-2', 'large-3'])
    await api.ask('PUT', `/api/workflows/${id}`, { name: id, jobs });
  const pages: string[][] = [];
  for (let path: string | undefined = '/api/workflows'; path !== undefined; ) {
    const page = await pageAt(path);
    pages.push(page.ids);
    path = page.next;
  }
  expect(pages.slice(0, 2)).toEqual([['large-3'], ['large-2']]);
  expect(pages[2]?.[0]).toBe('large-1');
  expect(pages).toHaveLength(3);
  for (const id of pages.flat().filter((one) => one.startsWith('large')))
    await api.ask('DELETE', `/api/workflows/${id}`);
});

test('`status` keeps the workflows in which a job has it; an unknown word keeps none', async () => {
  const queued = await api.ask('GET', '/api/workflows?status=queued');
  expect(queued.body).toContainEqual(expect.objectContaining({ id: 'ci-1' }));
  expect(queued.body).not.toContainEqual(expect.objectContaining({ id: 'page-1' }));
  expect((await api.ask('GET', '/api/workflows?status=running')).body).toEqual([]);
  expect((await api.ask('GET', '/api/workflows?status=nonsense')).body).toEqual([]);
});

test.each([
  ['a cycle, by its path', { a: { run: 'x', needs: 'b' }, b: { run: 'x', needs: 'a' } }, 'a -> b -> a'],
  ['an unknown dependency', { a: { run: 'x', needs: 'z' } }, "depends on 'z'"],
  ['an empty command', { a: { run: ' ' } }, "either 'run' or 'steps'"],
  ['a bad id', { 'a b': { run: 'x' } }, 'must match'],
  ['a typo', { a: { run: 'x', retrys: 1 } }, 'retrys'],
])('creating refuses %s with 422', async (_what, jobs, message) => {
  const { status, body } = await api.ask('POST', '/api/workflows', { name: 'bad', jobs });
  expect(status).toBe(422);
  expect(body).toMatchObject({
    code: 'invalid_workflow',
    status: 422,
    detail: expect.stringContaining(message),
  });
});

test('a PUT is answered with what it stored, however often others delete it meanwhile', async () => {
  const body = { name: 'n', jobs: { a: { run: 'true' } } };
  const statuses = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const method = index % 2 === 0 ? 'PUT' : 'DELETE';
      const { status } = await api.ask(
        method,
        '/api/workflows/contested',
        method === 'PUT' ? body : undefined,
      );
      return `${method} ${status}`;
    }),
  );
  expect(statuses).not.toContain('PUT 404');
});
