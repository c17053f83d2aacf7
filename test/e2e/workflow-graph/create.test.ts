// Creating workflows: rows 1 to 3 and 7, and what the contract has beyond them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWalk, type Walk } from '../../support/graph-user.ts';

let walk: Walk;

beforeAll(async () => {
  walk = await startWalk({ counts: { scheduler: 0, reaper: 0, worker: 0 } });
});

afterAll(() => walk[Symbol.asyncDispose]());

const YAML = { 'content-type': 'application/yaml' };
const job = { id: 'a', name: 'A', status: 'queued', command: 'echo', depends_on: [] };
const count = async () => Object(await walk.ask('GET', '/api/workflows?limit=1000')).body.length;
const show = (id: string) => walk.ask('GET', `/api/workflows/${id}/status`);

test('1: a created workflow has an id of its own, and is in the list and by its status', async () => {
  const sent = { id: 'mine', name: 'ci.yml', trigger: 'on: push', jobs: [job] };
  const created = await walk.ask('POST', '/api/workflows', sent);
  const { id } = Object(created.body);
  expect(created).toMatchObject({ status: 201, body: { name: 'ci.yml', trigger: 'on: push' } });
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  const again = await walk.ask('POST', '/api/workflows', sent);
  expect(Object(again.body).id).not.toBe(id);
  expect((await walk.ask('GET', '/api/workflows')).body).toContainEqual(created.body);
  expect(await show(id)).toMatchObject({ status: 200, body: created.body });
  expect((await show('mine')).status).toBe(404);
});

test('2: of a job the five required keys are enough, and all fifteen come back', async () => {
  const created = await walk.ask('POST', '/api/workflows', { name: 'n', trigger: '', jobs: [job] });
  expect(Object(created.body).jobs).toEqual([
    {
      ...job,
      duration_secs: null,
      started_at: null,
      output: null,
      required_labels: [],
      max_retries: 0,
      attempt: 0,
      metadata: {},
      ports: [],
      children: null,
      collapsed: false,
    },
  ]);
});

test('2: what is given of the other keys comes back, except what the server decides', async () => {
  const given = {
    required_labels: ['gpu', 'linux'],
    max_retries: 2,
    metadata: { node_type: 'build', icon: '⚙', nested: { values: [1, null, true] } },
    ports: [{ id: 'in', label: 'In', direction: 'input', port_type: 'text', color: null }],
    children: [{ ...job, id: 'child' }],
    collapsed: true,
  };
  const decided = {
    status: 'success',
    attempt: 7,
    output: 'x',
    started_at: 1710000000000.0,
    duration_secs: 3,
  };
  const jobs = [{ ...job, ...given, ...decided }];
  const { body } = await walk.ask('POST', '/api/workflows', { name: 'n', trigger: '', jobs });
  const ours = { status: 'queued', attempt: 0, output: null, started_at: null, duration_secs: null };
  expect(Object(body).jobs).toEqual([{ ...job, ...given, ...ours }]);
});

test('3: bad bodies are refused and nothing of them is kept', async () => {
  const before = await count();
  const post = (body: unknown, headers?: Record<string, string>) =>
    walk.ask('POST', '/api/workflows', body, headers);
  const JSON_TYPE = { 'content-type': 'application/json' };
  expect(await post({ name: 'n', trigger: '' })).toMatchObject({
    status: 422,
    body: { code: 'invalid_workflow', errors: [{ path: 'jobs' }] },
  });
  expect(await post('{"name": "n", "jobs": [', JSON_TYPE)).toMatchObject({ status: 400 });
  expect(await post('[]', JSON_TYPE)).toMatchObject({ status: 422 });
  expect(await post('name=n', { 'content-type': 'application/x-www-form-urlencoded' })).toMatchObject({
    status: 415,
  });
  const untyped = await fetch(`${walk.cluster.url}/api/workflows`, {
    method: 'POST',
    body: new TextEncoder().encode(JSON.stringify({ name: 'n', trigger: '', jobs: [job] })),
  });
  expect(untyped.status).toBe(415);
  expect(untyped.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  for (const wrong of [{ id: 7 }, { depends_on: 'b' }, { max_retries: -1 }, { required_labels: [''] }]) {
    const { status, body } = await post({ name: 'n', trigger: '', jobs: [{ ...job, ...wrong }] });
    expect([status, Object(body).errors[0].path]).toEqual([
      422,
      expect.stringContaining(`jobs.0.${Object.keys(wrong)[0]}`),
    ]);
  }
  expect(await count()).toBe(before);
});

test('7: the status of what is unknown is 404, of what cannot be an id 400', async () => {
  expect(await show('none')).toMatchObject({
    status: 404,
    body: { status: 404, code: 'not_found', detail: expect.stringContaining('none') },
  });
  expect((await show('a%20b')).status).toBe(400);
});

test('contract 2.2: PUT creates and replaces, DELETE removes the definition and leaves its runs', async () => {
  const put = (name: string) => walk.ask('PUT', '/api/workflows/own', { name, trigger: '', jobs: [job] });
  expect(await put('first')).toMatchObject({ status: 201, body: { id: 'own', name: 'first' } });
  const run = await walk.run('own');
  expect(await put('second')).toMatchObject({ status: 200, body: { id: 'own', name: 'second' } });
  expect((await walk.ask('DELETE', '/api/workflows/own')).status).toBe(204);
  expect((await walk.ask('DELETE', '/api/workflows/own')).status).toBe(404);
  expect((await show('own')).status).toBe(404);
  expect((await walk.ask('POST', '/api/workflows/own/run')).status).toBe(404);
  expect(await walk.ask('GET', `/api/runs/${run}`)).toMatchObject({ status: 200, body: { name: 'first' } });
  expect(Object(await walk.ask('GET', '/api/workflows/own/runs')).body.items).toMatchObject([
    { run_id: run },
  ]);
  expect((await walk.ask('POST', '/api/workflows/own/cancel')).status).toBe(202);
  expect(await walk.ask('GET', `/api/runs/${run}`)).toMatchObject({
    body: { jobs: [{ state: 'cancelled' }] },
  });
});

const withoutId = ({ body }: { body: unknown }) => ({ ...Object(body), id: null });

test('contract 2.2: the text of a file is taken where JSON is, and the two forms of jobs are one', async () => {
  const text = 'name: n\non: push\njobs:\n  a: { run: echo }\n  b: { name: B, needs: a, run: echo }\n';
  const filed = await walk.ask('POST', '/api/workflows', text, YAML);
  const mapped = await walk.ask('POST', '/api/workflows', {
    name: 'n',
    on: 'push',
    jobs: { a: { run: 'echo' }, b: { name: 'B', needs: ['a'], run: 'echo' } },
  });
  const b = { ...job, id: 'b', name: 'B', depends_on: ['a'] };
  const listed = await walk.ask('POST', '/api/workflows', {
    name: 'n',
    trigger: 'on: push',
    jobs: [{ ...job, name: 'a' }, b],
  });
  expect(filed.status).toBe(201);
  expect(withoutId(mapped)).toEqual(withoutId(filed));
  expect(withoutId(listed)).toEqual(withoutId(filed));
  expect(await walk.ask('PUT', '/api/workflows/filed', text, YAML)).toMatchObject({ status: 201 });
  expect(await walk.ask('POST', '/api/runs', text, YAML)).toMatchObject({ status: 201, body: { name: 'n' } });
  const bad = await walk.ask('POST', '/api/workflows', 'name: n\njobs:\n  a: { needs: z, run: x }\n', YAML);
  expect(bad).toMatchObject({ status: 422, body: { detail: expect.stringContaining('line 3, column') } });
});

test('contract 2.2: ids with all that they may hold work in URLs, others are refused', async () => {
  const odd = ['a.b-c_D.9', '-', '_', '...', '.hidden', 'Status', 'run', 'x'.repeat(255)];
  for (const id of odd) {
    const jobs = [{ ...job, id }];
    const created = await walk.ask('PUT', `/api/workflows/${id}`, { name: id, trigger: '', jobs });
    expect([id, created.status]).toEqual([id, 201]);
    const run = await walk.run(id);
    expect(await walk.ask('GET', `/api/runs/${run}/jobs/${id}`)).toMatchObject({ body: { job_id: id } });
    expect((await walk.ask('GET', `/api/workflows/${id}/jobs/${id}/logs`)).body).toEqual([]);
    expect((await walk.ask('GET', `/api/jobs/${id}/${id}/cancelled`)).body).toBe(false);
    expect((await walk.ask('POST', `/api/workflows/${id}/cancel`)).status).toBe(202);
    expect((await walk.ask('DELETE', `/api/workflows/${id}`)).status).toBe(204);
  }
  const bad = [
    'a%2Fb',
    'a%20b',
    'a%00',
    '%F0%9F%98%80',
    "a'b",
    'a%25b',
    'x'.repeat(256),
    '%2e%2e',
    '__proto__',
  ];
  for (const id of bad) {
    const { status } = await walk.ask('PUT', `/api/workflows/${id}`, { name: 'n', jobs: {} });
    expect([id, status]).toEqual([id, expect.toBeOneOf([400, 404])]);
  }
  for (const id of ['', 'a/b', 'a b', '..', 'ü', '__proto__', 'x'.repeat(256)]) {
    const { status } = await walk.ask('POST', '/api/workflows', { name: 'n', jobs: [{ ...job, id }] });
    expect([id, status]).toEqual([id, 422]);
  }
});

const MIB = 1024 * 1024;
const command = (bytes: number) => ({ ...job, command: '#'.repeat(bytes) });
const many = (n: number) => Array.from({ length: n }, (_, i) => ({ ...job, id: `j${i}` }));

test('contract 2.2: 16 MiB and 10,000 jobs are taken, more is refused', { timeout: 120_000 }, async () => {
  const created = await walk.ask('POST', '/api/runs', { name: 'many', jobs: many(10_000) });
  expect(created.status).toBe(201);
  expect(Object(created.body).jobs).toHaveLength(10_000);
  const { run_id } = Object(created.body);
  expect((await walk.ask('POST', `/api/runs/${run_id}/cancel`)).status).toBe(202);
  for (const path of ['/api/runs', '/api/workflows']) {
    expect(await walk.ask('POST', path, { name: 'many', jobs: many(10_001) })).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining('more than the 10000') },
    });
  }
  const large = Array.from({ length: 15 }, (_, i) => ({ ...command(MIB), id: `j${i}` }));
  expect((await walk.ask('POST', '/api/workflows', { name: 'large', jobs: large })).status).toBe(201);
  expect((await walk.ask('POST', '/api/workflows', { name: 'n', jobs: [command(MIB + 1)] })).status).toBe(
    422,
  );
  const larger = [...large, { ...command(MIB), id: 'more' }];
  expect(await walk.ask('POST', '/api/workflows', { name: 'larger', jobs: larger })).toMatchObject({
    status: 413,
    body: { code: 'too_large' },
  });
});
