import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lineLogger } from '../line-logger.ts';
import { readServiceLine } from '../service-line.ts';
import { supervise, type Supervised } from './supervise.ts';

let folder: string;
let said: string[];
let lines: string[];
let service: Supervised | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wfg-cli-'));
  said = [];
  lines = [];
});
afterEach(async () => {
  service?.kill();
  await service?.stop(0);
  rmSync(folder, { recursive: true });
});

/** Supervises a program of these lines. */
function start(...program: string[]): Supervised {
  return startAs({ mayEnd: false }, program);
}

function startAs({ mayEnd }: { mayEnd: boolean }, program: string[]): Supervised {
  const main = join(folder, 'main.mjs');
  writeFileSync(main, program.join('\n'));
  const log = lineLogger('info', (line) => said.push(readServiceLine(line).text));
  const watch = { log, onLine: (_: string, line: string) => lines.push(line), onChange: () => undefined };
  service = supervise({ name: 'it', main, env: () => process.env, mayEnd }, watch);
  return service;
}

const waitsForEver = 'setInterval(() => {}, 1000)';
const until = (check: () => void) => vi.waitFor(check, { timeout: 10_000 });

test('a crashed service is started again, more slowly each time, and that is said', async () => {
  start('console.log("up")', 'throw new Error("a bug")');
  await until(() => expect(lines.filter((line) => line === 'up').length).toBeGreaterThanOrEqual(3));
  expect(lines).toContain('Error: a bug');
  expect(said[0]).toMatch(/^it ended with exit code 1: starting it again in 0\.\d s$/);
});

test('a killed service is started again with another process', async () => {
  const it = start('console.log("up")', waitsForEver);
  await until(() => expect(lines).toEqual(['up']));
  const first = it.pid();
  process.kill(first ?? 0, 'SIGKILL');
  await until(() => expect(lines).toEqual(['up', 'up']));
  expect(it.pid()).not.toBe(first);
  expect(said[0]).toMatch(/^it was ended by SIGKILL/);
});

test('what nobody asked to end is started again, however well it ended', async () => {
  start('console.log("up")');
  await until(() => expect(lines).toEqual(['up', 'up']));
  expect(said[0]).toMatch(/^it ended with exit code 0/);
});

test('a service that may end is left alone when it does', async () => {
  const it = startAs({ mayEnd: true }, ['console.log("done")']);
  await until(() => expect(said).toEqual(['it was told to stop, and is not started again']));
  expect(it.pid()).toBeUndefined();
});

test('a wrong configuration is not tried again', async () => {
  const it = start('console.error("PORT must be a number")', 'process.exit(2)');
  await expect(it.failed).rejects.toThrow('it cannot run with this configuration');
  expect(lines).toEqual(['PORT must be a number']);
});

test('a service that is stopped may take its time, and is not started again', async () => {
  const it = start(
    'process.on("SIGTERM", () => setTimeout(() => { console.log("bye"); process.exit(1) }, 50))',
    'console.log("up")',
    waitsForEver,
  );
  await until(() => expect(lines).toEqual(['up']));
  await it.stop(5_000);
  expect(lines).toEqual(['up', 'bye']);
  expect(it.pid()).toBeUndefined();
  expect(said).toEqual([]);
});

test('a service is killed that does not stop', async () => {
  const it = start('process.on("SIGTERM", () => {})', 'console.log("up")', waitsForEver);
  await until(() => expect(lines).toEqual(['up']));
  await it.stop(-2_000);
  expect(said).toEqual(['it does not stop: killing it']);
});

test('while it waits to start a service again it can be stopped', async () => {
  const it = start('process.exit(1)');
  await until(() => expect(said.length).toBeGreaterThanOrEqual(2));
  await it.stop(5_000);
  expect(it.pid()).toBeUndefined();
});
