import type { Hint } from '@wfg/shared/contract/bell';
import { BellBuffer } from '@wfg/shared/db/bell-buffer';
import { parseBell } from '@wfg/shared/contract/bell';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { createWatch } from './watch.ts';

const log = pino({ level: 'silent' });
const RING_MS = 50;
const NEVER_MS = 1_000_000;

/** A doorbell that merges what is rung until it is flushed, and keeps the bells. */
function newDoorbell() {
  const rung: string[][] = [];
  const buffer = new BellBuffer();
  return {
    rung,
    ring: (hint: Hint) => buffer.add(hint),
    async flush() {
      if (buffer.empty) return;
      const heard = parseBell(buffer.take());
      if ('bell' in heard) rung.push(heard.bell.all ? ['all'] : (heard.bell.watch ?? []));
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

const keyOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}.${n}`;

test('what is followed from now on is told at once, and what was is not told with it', async () => {
  const doorbell = newDoorbell();
  await using watch = createWatch(doorbell, log, NEVER_MS);
  watch.add('a');
  await vi.waitFor(() => expect(doorbell.rung).toEqual([['a']]));
  watch.add('b');
  await vi.waitFor(() => expect(doorbell.rung).toEqual([['a'], ['b']]));
});

test('it is told again and again, until the last viewer has gone', async () => {
  const doorbell = newDoorbell();
  await using watch = createWatch(doorbell, log, RING_MS);
  const [one, two] = [watch.add('a'), watch.add('a')];
  watch.add('b');
  one[Symbol.dispose]();
  one[Symbol.dispose]();
  const since = doorbell.rung.length;
  await vi.waitFor(() =>
    expect(doorbell.rung.slice(since).filter((keys) => keys.includes('a')).length).toBeGreaterThan(2),
  );
  two[Symbol.dispose]();
  const left = doorbell.rung.length;
  await vi.waitFor(() => expect(doorbell.rung.length).toBeGreaterThan(left + 3));
  expect(doorbell.rung.slice(left + 1).flat()).not.toContain('a');
});

test('nothing is told when nothing is followed any more', async () => {
  const [silent, other] = [newDoorbell(), newDoorbell()];
  await using watch = createWatch(silent, log, RING_MS);
  await using beside = createWatch(other, log, RING_MS);
  const viewer = watch.add('a');
  await vi.waitFor(() => expect(silent.rung.length).toBeGreaterThan(1));
  viewer[Symbol.dispose]();
  const told = silent.rung.length;
  beside.add('b');
  await vi.waitFor(() => expect(other.rung.length).toBeGreaterThan(3));
  expect(silent.rung).toHaveLength(told);
});

test('however many there are, each is named, in bells that hold them', async () => {
  const doorbell = newDoorbell();
  await using watch = createWatch(doorbell, log, NEVER_MS);
  const keys = Array.from({ length: 1_234 }, (_, n) => keyOf(n));
  for (const key of keys) watch.add(key);
  await vi.waitFor(() => expect(doorbell.rung.flat()).toHaveLength(keys.length));
  expect(doorbell.rung.flat()).toEqual(keys);
});
