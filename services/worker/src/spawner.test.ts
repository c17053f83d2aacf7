import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { readProcessStat } from '@wfg/shared/runtime/process-stat';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { newMark, processesWith, quiet } from './command.fixture.ts';
import { createSpawner, type Spawner } from './spawner.ts';
import { MARK } from './spawner/protocol.ts';

const WORKER = fileURLToPath(new URL('worker.fixture.ts', import.meta.url));
const STUBBORN = `trap '' TERM HUP INT; sleep 60 & sleep 60; sleep 60`;
const STRAY = `(setsid sh -c 'trap "" TERM; sleep 60; sleep 60' &) ; sleep 60`;

async function newSpawner(): Promise<Spawner> {
  const spawner = createSpawner({ log: quiet });
  onTestFinished(() => spawner[Symbol.asyncDispose]());
  return spawner;
}

async function start(spawner: Spawner, command: string, mark = newMark().value, cwd = '/') {
  const env = { PATH: process.env.PATH ?? '', TEST_MARK: mark };
  return spawner.start({ file: '/bin/sh', args: ['-c', command], cwd, env, mark: randomUUID() });
}

/** The spawner's own process, by the folder on its command line. */
function processOf(spawner: Spawner): number {
  const [pid] = processesWith(spawner.baseDir()).filter((pid) =>
    processesWith('spawner/main.ts').includes(pid),
  );
  if (pid === undefined) throw new Error('no spawner');
  return pid;
}

/** Those that live, of the process. */
function spawnersOf(parent: number): number[] {
  return processesWith('spawner/main.ts').filter((pid) => readProcessStat(pid)?.parent === parent);
}

test('a command has its environment, both streams and an end', async () => {
  const command = await start(await newSpawner(), 'echo $TEST_MARK; echo err >&2; exit 5', 'hello');
  expect(await Promise.all([text(command.stdout), text(command.stderr)])).toEqual(['hello\n', 'err\n']);
  expect(await command.exited).toEqual({ code: 5, signal: null, error: null });
  expect(command.hasGroup()).toBe(false);
  command.release();
});

test('what cannot be started is refused, and costs nothing', async () => {
  const spawner = await newSpawner();
  const before = readdirSync('/proc/self/fd').length;
  for (let count = 0; count < 20; count++) {
    await expect(start(spawner, 'true', '', '/does-not-exist')).rejects.toThrow('ENOENT');
  }
  expect(readdirSync('/proc/self/fd').length).toBeLessThan(before + 5);
});

test('signals to the spawner are not for it', async () => {
  const spawner = await newSpawner();
  const pid = processOf(spawner);
  const command = await start(spawner, 'echo up; sleep 60');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.kill(pid, signal);
  await once(command.stdout, 'data');
  expect(processOf(spawner)).toBe(pid);
  await command.kill({ graceMs: 0 });
  expect(await command.exited).toMatchObject({ signal: 'SIGKILL' });
  command.release();
});

describe('when the worker is killed', () => {
  test('no process of it is alive after 5 s, and its folder is gone', async () => {
    const mark = newMark();
    const worker = spawn(process.execPath, [WORKER, STUBBORN, STRAY, STUBBORN], {
      env: { ...process.env, [mark.name]: mark.value },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(worker.stdout, 'data');
    const baseDir = String(line).trim();
    await vi.waitFor(() => expect(processesWith(mark.value).length).toBeGreaterThan(7), 5_000);
    worker.kill('SIGKILL');
    await vi.waitFor(() => expect(processesWith(mark.value)).toEqual([]), 5_000);
    await vi.waitFor(() => expect(existsSync(baseDir)).toBe(false), 5_000);
    await vi.waitFor(() => expect(processesWith(baseDir)).toEqual([]), 5_000);
  });
});

describe('when the spawner is killed', () => {
  test('its commands fail with that reason, dead, and later ones find another', async () => {
    const spawner = await newSpawner();
    const mark = newMark().value;
    const commands = [await start(spawner, STUBBORN, mark), await start(spawner, STRAY, mark)];
    const first = processOf(spawner);
    process.kill(first, 'SIGKILL');
    for (const { exited } of commands) {
      const error = 'the spawner died (SIGKILL): the command was killed';
      expect(await exited).toEqual({ code: null, signal: null, error });
    }
    expect(processesWith(mark)).toEqual([]);
    const later = await start(spawner, 'exit 3');
    expect(await later.exited).toMatchObject({ code: 3 });
    expect(processOf(spawner)).not.toBe(first);
    for (const command of [...commands, later]) command.release();
  });

  test('what was being started is refused, and dead', async () => {
    const spawner = await newSpawner();
    await start(spawner, 'true');
    const mark = newMark().value;
    const pid = processOf(spawner);
    process.kill(pid, 'SIGSTOP');
    const starting = start(spawner, 'sleep 60', mark);
    process.kill(pid, 'SIGKILL');
    await expect(starting).rejects.toThrow('the spawner died (SIGKILL)');
    expect(processesWith(mark)).toEqual([]);
  });
});

test('after a renewal what runs goes on, and its process ends with it', async () => {
  const spawner = await newSpawner();
  const mark = newMark().value;
  const command = await start(spawner, 'sleep 60', mark);
  const [before, process] = [spawner.baseDir(), processOf(spawner)];
  spawner.renew();
  const later = await start(spawner, 'exit 3');
  expect(await later.exited).toMatchObject({ code: 3 });
  expect(spawner.baseDir()).not.toBe(before);
  expect(processOf(spawner)).not.toBe(process);
  await command.kill({ graceMs: 0 });
  expect(await command.exited).toMatchObject({ signal: 'SIGKILL' });
  command.release();
  later.release();
  await vi.waitFor(() => expect(processesWith(before)).toEqual([]), 5_000);
  expect(existsSync(before)).toBe(false);
});

/** Closing the spawner shows who knows of it: it is killed with all that is known. */
async function guarded(spawner: Spawner): Promise<{ isGone: () => Promise<void> }> {
  const mark = randomUUID();
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore', env: { [MARK]: mark } });
  await once(child, 'spawn');
  onTestFinished(() => void child.kill('SIGKILL'));
  spawner.guard({ pid: child.pid ?? 0, mark });
  const isGone = () => vi.waitFor(() => expect(processesWith(mark)).toEqual([]), 5_000);
  return { isGone };
}

describe('what is guarded', () => {
  test('is guarded again when the spawner was killed, though nothing is started', async () => {
    await using spawner = createSpawner({ log: quiet });
    const first = processOf(spawner);
    const { isGone } = await guarded(spawner);
    process.kill(first, 'SIGKILL');
    const others = () => spawnersOf(process.pid).filter((pid) => pid !== first);
    await vi.waitFor(() => expect(others()).toHaveLength(1), 5_000);
    // By the time that it starts something it has heard of what is guarded.
    const command = await start(spawner, 'true');
    expect(await command.exited).toMatchObject({ code: 0 });
    command.release();
    await spawner[Symbol.asyncDispose]();
    await isGone();
  });

  test('stays so when another spawner is wanted, and cannot be started', async () => {
    await using spawner = createSpawner({ log: quiet });
    const { isGone } = await guarded(spawner);
    (await start(spawner, 'true')).release();
    spawner.renew();
    vi.stubEnv('TMPDIR', '/does-not-exist');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(() => spawner.baseDir()).toThrow('ENOENT');
    await spawner[Symbol.asyncDispose]();
    await isGone();
  });
});

test('disposal kills what runs, and tells so', async () => {
  const spawner = createSpawner({ log: quiet });
  const mark = newMark().value;
  const command = await start(spawner, STRAY, mark);
  const baseDir = spawner.baseDir();
  await spawner[Symbol.asyncDispose]();
  expect(await command.exited).toMatchObject({ error: 'the worker stopped: the command was killed' });
  expect(processesWith(mark)).toEqual([]);
  expect(existsSync(baseDir)).toBe(false);
  await expect(start(spawner, 'true')).rejects.toThrow('the worker is stopping');
  command.release();
});

test('a thousand commands leave nothing behind', { timeout: 120_000 }, async () => {
  const spawner = await newSpawner();
  await (await start(spawner, 'true')).exited;
  const before = readdirSync('/proc/self/fd').length;
  const startedAt = performance.now();
  const lanes = Array.from({ length: 8 }, async () => {
    for (let count = 0; count < 125; count++) {
      const command = await start(spawner, 'true');
      expect(await command.exited).toEqual({ code: 0, signal: null, error: null });
      command.release();
    }
  });
  await Promise.all(lanes);
  console.info(`${Math.round(1_000_000 / (performance.now() - startedAt))} commands a second`);
  await vi.waitFor(() => expect(readdirSync('/proc/self/fd').length).toBeLessThan(before + 5));
});
