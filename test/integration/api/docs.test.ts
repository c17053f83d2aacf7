// The page of the HTTP interface.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, startApi } from '../../support/api.ts';
import { testDatabase } from '../../support/postgres.ts';

let answer: Answer;
let page: string;
let document: { paths: Record<string, object>; components: { schemas: object } };
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  const db = stack.use(await testDatabase());
  const api = stack.use(await startApi(db.url));
  answer = await api.ask('GET', '/docs');
  page = String(answer.body);
  document = Object((await api.ask('GET', '/openapi.json')).body);
});

afterAll(() => stack.disposeAsync());

const found = (pattern: RegExp) => [...page.matchAll(pattern)].map((match) => match[1] ?? '');

test('the page has every route and every shape, and its links lead somewhere', () => {
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8']);
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  const shown = [...page.matchAll(/<b>(\w+)<\/b> <code>([^<]+)<\/code>/g)];
  expect(shown.map(([, method, path]) => `${method} ${path}`).toSorted()).toEqual(routes.toSorted());
  const ids = found(/ id="([^"]+)"/g);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(Object.keys(document.components.schemas)));
  expect(ids).toEqual(expect.arrayContaining(found(/href="#([^"]+)"/g)));
});

test('shapes are written down, and what they say is no markup', () => {
  expect(page).toContain(
    '<h3 id="LogChunk">LogChunk</h3><pre>{\n  workflow_id: string | null\n  run_id: string uuid',
  );
  expect(page).toContain('array of <a href="#LogChunk">LogChunk</a>');
  expect(page).toContain('<code>integer 1..500</code> <span>query</span>');
  expect(page).toContain('stream: &quot;stdout&quot; | &quot;stderr&quot;');
  expect(page).toContain('&lt;attempt&gt;:&lt;sequence&gt;');
});

test('nothing but its own style is allowed, and nothing is asked from elsewhere', () => {
  const [style = ''] = found(/<style>([^]*?)<\/style>/g);
  const hash = createHash('sha256').update(style).digest('base64');
  expect(answer.headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
  expect(page).not.toMatch(/<script|<link|<img|<iframe|style="|\bon\w+="|src=|https?:/i);
});
