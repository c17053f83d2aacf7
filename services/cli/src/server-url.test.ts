import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { serverUrl } from './server-url.ts';
import { startedAs, writeUpFile } from './up-file.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'wfg-cli-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const me = startedAs(process.pid) ?? { pid: 0, started: '' };

test('--url comes before WFG_URL, WFG_URL before the wfg that runs here', async () => {
  await writeUpFile(dataDir, { ...me, url: 'http://127.0.0.1:3001', children: [] });
  const env = { WFG_URL: 'http://b:1/wfg', WFG_DATA_DIR: dataDir };
  expect(serverUrl('https://a', env).href).toBe('https://a/');
  expect(serverUrl(undefined, env).href).toBe('http://b:1/wfg/');
  expect(serverUrl(undefined, { WFG_DATA_DIR: dataDir }).href).toBe('http://127.0.0.1:3001/');
});

test('without WFG_DATA_DIR it is looked for here and in the folders above', async () => {
  const inside = join(dataDir, 'a', 'b');
  mkdirSync(inside, { recursive: true });
  mkdirSync(join(dataDir, '.wfg'));
  await writeUpFile(join(dataDir, '.wfg'), { ...me, url: 'http://127.0.0.1:3001', children: [] });
  expect(serverUrl(undefined, {}, inside).href).toBe('http://127.0.0.1:3001/');
});

test('one that was killed is not running', async () => {
  const unreachable = expect.objectContaining({
    exitCode: 3,
    message: expect.stringContaining('no wfg is running'),
  });
  expect(() => serverUrl(undefined, { WFG_DATA_DIR: dataDir })).toThrow(unreachable);
  await writeUpFile(dataDir, { ...me, started: 'long ago', url: 'http://127.0.0.1:3001', children: [] });
  expect(() => serverUrl(undefined, { WFG_DATA_DIR: dataDir })).toThrow(unreachable);
});

test('one that is not ready yet is said to be starting', async () => {
  await writeUpFile(dataDir, { ...me, url: null, children: [] });
  expect(() => serverUrl(undefined, { WFG_DATA_DIR: dataDir })).toThrow('still starting');
});

test.each(['localhost:3000', 'ftp://a', ''])('--url %s is refused', (url) => {
  expect(() => serverUrl(url, {})).toThrow('--url must be a URL');
});
