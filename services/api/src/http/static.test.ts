import { mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveClient } from './static.ts';

let folder: string;
const html = { accept: 'text/html,*/*' };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wfg-static-'));
  const dist = join(folder, 'dist');
  await mkdir(join(dist, 'assets'), { recursive: true });
  await mkdir(join(folder, 'dist-other'));
  await writeFile(join(folder, 'secret.txt'), 'secret');
  await writeFile(join(folder, 'dist-other', 'secret.txt'), 'secret');
  await writeFile(join(dist, 'index.html'), '<p>page</p>');
  await writeFile(join(dist, 'assets', 'app-1a2b.js'), 'app()');
  // More than is read ahead, after which a file would be closed.
  await writeFile(join(dist, 'assets', 'large-3c4d.js'), ' '.repeat(1024 * 1024));
  await symlink(join(folder, 'secret.txt'), join(dist, 'link.txt'));
});

afterAll(() => rm(folder, { recursive: true }));

const app = (root: string) => new Hono().get('*', serveClient(join(folder, root)));
const get = (path: string, headers: Record<string, string> = {}, root = 'dist') =>
  app(root).request(`http://localhost${path}`, { headers });

test('the page comes with a strict policy and is asked for each time', async () => {
  const page = await get('/');
  expect(await page.text()).toBe('<p>page</p>');
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('cache-control')).toBe('no-cache');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
});

test('HEAD is told the size and opens no file', async () => {
  for (let n = 0; n < 20; n++) {
    const head = await app('dist').request('http://localhost/assets/large-3c4d.js', { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe('1048576');
    expect(await head.text()).toBe('');
  }
  // Files are opened in order: what a HEAD would open is open now.
  expect(await (await get('/')).text()).toBe('<p>page</p>');
  const open = await readdir('/proc/self/fd');
  const paths = await Promise.all(open.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  expect(paths.filter((path) => path.startsWith(folder))).toEqual([]);
});

test('hashed assets are kept for ever', async () => {
  const asset = await get('/assets/app-1a2b.js');
  expect(await asset.text()).toBe('app()');
  expect(asset.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(asset.headers.get('cache-control')).toContain('immutable');
});

test('paths of the client get the page, others are unknown', async () => {
  expect(await (await get('/runs/7', html)).text()).toBe('<p>page</p>');
  expect((await get('/runs/7', { accept: '*/*' })).status).toBe(404);
  expect((await get('/api/unknown', html)).status).toBe(404);
  expect((await get('/assets/gone.js')).status).toBe(404);
});

test.each([
  '/../secret.txt',
  '/%2e%2e/secret.txt',
  '/..%2fsecret.txt',
  '/%2e%2e%2fdist-other%2fsecret.txt',
  '/assets/..%2f..%2fsecret.txt',
  '/link.txt',
  '/index.html%00.txt',
  '/assets',
  `/${'a'.repeat(5_000)}`,
])('nothing outside the folder is served: %s', async (path) => {
  const { status } = await get(path);
  expect(status).toBe(404);
});

test('without a built client there is a page that says so', async () => {
  const page = await get('/', html, 'nowhere');
  expect(page.status).toBe(503);
  expect(await page.text()).toContain('npm run build');
});
