import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { startLoop } from './loop.ts';

const log = pino({ level: 'silent' });
const HOUR_MS = 3_600_000;

/** A step that waits until the test lets it end, and counts. */
function heldStep() {
  let release: (() => void) | undefined;
  let running = 0;
  const counts = { started: 0, most: 0 };
  const step = async () => {
    counts.started++;
    counts.most = Math.max(counts.most, ++running);
    await new Promise<void>((resolve) => (release = resolve));
    running--;
    return HOUR_MS;
  };
  return { step, counts, release: () => release?.() };
}

async function settle() {
  for (let i = 0; i < 5; i++) await setImmediate();
}

test('steps follow each other as they say', async () => {
  const pauses = [0, 1, 5];
  let steps = 0;
  await using _ = startLoop({ name: 't', log, step: async () => pauses[steps++] ?? HOUR_MS });
  await vi.waitFor(() => expect(steps).toBe(4));
});

test('a sleeping loop is woken', async () => {
  let steps = 0;
  await using loop = startLoop({ name: 't', log, step: async () => (steps++, HOUR_MS) });
  await settle();
  expect(steps).toBe(1);
  loop.wake();
  await settle();
  expect(steps).toBe(2);
});

test('waking a loop many times during a step causes exactly one more', async () => {
  const { step, counts, release } = heldStep();
  await using loop = startLoop({ name: 't', log, step });
  for (let i = 0; i < 10; i++) loop.wake();
  await settle();
  expect(counts.started).toBe(1);
  release();
  await settle();
  expect(counts.started).toBe(2);
  release();
  await settle();
  expect(counts).toEqual({ started: 2, most: 1 });
});

test('a step that throws is tried again after a pause, which no wake-up shortens', async () => {
  const at: number[] = [];
  await using loop = startLoop({
    name: 't',
    log,
    step: async () => {
      at.push(performance.now());
      if (at.length < 3) throw new Error('database away');
      return HOUR_MS;
    },
  });
  await settle();
  loop.wake();
  await settle();
  expect(at).toHaveLength(1);
  await vi.waitFor(() => expect(at).toHaveLength(3), 5_000);
  const [first = 0, second = 0, third = 0] = at;
  expect(second - first).toBeGreaterThan(140);
  expect(third - second).toBeGreaterThan(290);
});

test('a step is not waited for longer than its loop wants', async () => {
  let steps = 0;
  await using _ = startLoop({
    name: 't',
    log,
    longestRetryMs: 1,
    step: async () => {
      // Else that would take half a minute.
      if (++steps < 10) throw new Error('database away');
      return HOUR_MS;
    },
  });
  await vi.waitFor(() => expect(steps).toBe(10), 5_000);
});

test('while its steps fail it says since when and why, also during a step, until one succeeds', async () => {
  const said: (string | null)[] = [];
  await using loop = startLoop({
    name: 't',
    log,
    step: async () => {
      await settle();
      said.push(loop.problem());
      if (said.length < 3) throw new Error(`database away, ${said.length}`);
      return HOUR_MS;
    },
  });
  expect(loop.problem()).toBeNull();
  await vi.waitFor(() => expect(said).toHaveLength(3), 5_000);
  expect(said).toEqual([
    null,
    't: failing for 0 s: database away, 1',
    't: failing for 0 s: database away, 2',
  ]);
  await settle();
  expect(loop.problem()).toBeNull();
  loop.wake();
  await vi.waitFor(() => expect(said).toHaveLength(4));
  expect(said.at(-1)).toBeNull();
});

test('what befalls several loops is a warning once, with what to do; and it is said that it is over', async () => {
  const said: { level: string; msg: string; advice?: string }[] = [];
  const heard = pino(
    { level: 'debug', formatters: { level: (level) => ({ level }) } },
    { write: (line) => void said.push(JSON.parse(line)) },
  );
  let isFull = true;
  const step = async () => {
    if (isFull) throw Object.assign(new Error('too many clients'), { code: '53300' });
    return HOUR_MS;
  };
  const of = (level: string) => said.filter((line) => line.level === level);
  await using first = startLoop({ name: 'first', log: heard, step });
  await using second = startLoop({ name: 'second', log: heard, step });
  await vi.waitFor(() => expect(of('debug').length).toBeGreaterThan(2), 5_000);
  const advice: unknown = expect.stringContaining('raise max_connections');
  expect(of('warn')).toMatchObject([{ loop: 'first', msg: 'step failed', advice }]);
  expect(first.problem()).toContain('raise max_connections');
  isFull = false;
  await vi.waitFor(() => expect([first.problem(), second.problem()]).toEqual([null, null]), 5_000);
  expect(of('info')).toMatchObject([{ loop: 'first', msg: 'step works again' }]);
});

test('a very long sleep does not end at once', async () => {
  let steps = 0;
  await using _ = startLoop({ name: 't', log, step: async () => (steps++, Number.POSITIVE_INFINITY) });
  await settle();
  expect(steps).toBe(1);
});

test('disposal tells the running step, waits for it, and starts no other', async () => {
  let steps = 0;
  let ended = false;
  const loop = startLoop({
    name: 't',
    log,
    step: async (signal) => {
      steps++;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await settle();
      ended = true;
      return 0;
    },
  });
  loop.wake();
  await loop[Symbol.asyncDispose]();
  expect({ steps, ended }).toEqual({ steps: 1, ended: true });
  loop.wake();
  await settle();
  expect(steps).toBe(1);
});

test('disposal during a step does not sleep as long as that step says', async () => {
  const { step, release } = heldStep();
  const disposed = startLoop({ name: 't', log, step })[Symbol.asyncDispose]();
  release();
  await expect(disposed).resolves.toBeUndefined();
});

test('disposal ends a sleep', async () => {
  const loop = startLoop({ name: 't', log, step: async () => HOUR_MS });
  await settle();
  await expect(loop[Symbol.asyncDispose]()).resolves.toBeUndefined();
});
