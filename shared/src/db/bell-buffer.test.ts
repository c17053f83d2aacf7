import { expect, test } from 'vitest';
import { BELL_MAX_BYTES, parseBell } from '../contract/bell.ts';
import { BellBuffer } from './bell-buffer.ts';

function taken(buffer: BellBuffer) {
  const payload = buffer.take();
  expect(Buffer.byteLength(payload)).toBeLessThanOrEqual(BELL_MAX_BYTES);
  return parseBell(payload);
}

const ids = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, i) => `${prefix}-${String(i).padStart(36, '0')}`);

test('hints are merged: counts added, duplicates dropped, flags kept', () => {
  const buffer = new BellBuffer();
  buffer.add({ lanes: { '1': 2 }, runs: ['a', 'b'], settle: true });
  buffer.add({ tokens: true });
  buffer.add({ lanes: { '1': 3, '-7': 1 }, runs: ['b', 'c'], logs: ['a-0'] });
  buffer.add({ cancel: ['a'], beat: true });
  expect(taken(buffer)).toEqual({
    bell: {
      v: 1,
      settle: true,
      tokens: true,
      beat: true,
      lanes: { '1': 5, '-7': 1 },
      nonce: expect.any(Number),
      runs: ['a', 'b', 'c'],
      logs: ['a-0'],
      cancel: ['a'],
    },
  });
});

test('taking empties it', () => {
  const buffer = new BellBuffer();
  expect(buffer.empty).toBe(true);
  buffer.add({ settle: true, runs: ['a'] });
  expect(buffer.empty).toBe(false);
  buffer.take();
  expect(buffer.empty).toBe(true);
  buffer.add({ beat: true });
  expect(taken(buffer)).toEqual({ bell: { v: 1, beat: true } });
});

test('too many ids become "all", which a full buffer keeps until it is taken', () => {
  const buffer = new BellBuffer();
  buffer.add({ lanes: { '9': 1 }, runs: ids(100, 'r') });
  buffer.add({ logs: ids(100, 'l') });
  buffer.add({ runs: ['late'], settle: true });
  expect(taken(buffer)).toEqual({ bell: { v: 1, all: true, settle: true } });
  buffer.add({ runs: ['next'] });
  expect(taken(buffer)).toEqual({ bell: { v: 1, runs: ['next'] } });
});

test.each([
  ['runs', (i: number) => ({ runs: [`run-${i}`] })],
  ['wide characters', (i: number) => ({ logs: [`läuft-${'漢'.repeat(i % 9)}-${i}`] })],
  ['escaped characters', (i: number) => ({ cancel: [`"\\\n${i}`] })],
  ['lanes', (i: number) => ({ lanes: { [`-9223372036854${100_000 + i}`]: Number.MAX_SAFE_INTEGER } })],
])('a payload is never too long, and lists all there is room for: %s', (_, hint) => {
  const buffer = new BellBuffer();
  let longest = 0;
  for (let count = 1; count < 900; count++) {
    for (let i = 0; i < count; i++) buffer.add(hint(i));
    const payload = buffer.take();
    longest = Math.max(longest, Buffer.byteLength(payload));
    if (payload.includes('"all"')) break;
  }
  expect(longest).toBeGreaterThan(BELL_MAX_BYTES - 250);
  expect(longest).toBeLessThanOrEqual(BELL_MAX_BYTES);
});

test('what a lane requires is told once, and left out where there is no room for it', () => {
  const buffer = new BellBuffer();
  buffer.add({ lanes: { '1': 1 }, requires: { '1': ['a'] } });
  buffer.add({ lanes: { '1': 1, '2': 1 }, requires: { '1': ['a'] } });
  expect(buffer.unknownLanes).toEqual(['2']);
  buffer.require('2', ['x'.repeat(BELL_MAX_BYTES)]);
  expect(taken(buffer)).toEqual({
    bell: { v: 1, lanes: { '1': 2, '2': 1 }, requires: { '1': ['a'] }, nonce: expect.any(Number) },
  });
});

test('a bell for everyone has no nonce, and the next one has', () => {
  const buffer = new BellBuffer();
  buffer.add({ lanes: { '1': 1 } });
  buffer.add({ lanes: { '1': 1 }, everyone: true });
  expect(taken(buffer)).toEqual({ bell: { v: 1, lanes: { '1': 2 } } });
  buffer.add({ lanes: { '1': 1 } });
  expect(taken(buffer)).toMatchObject({ bell: { nonce: expect.any(Number) } });
});

test('without its lanes a bell may have nothing to tell', () => {
  const buffer = new BellBuffer();
  buffer.add({ lanes: { '1': 1 } });
  expect(buffer.isVain).toBe(false);
  buffer.dropLane('1');
  expect(buffer.isVain).toBe(true);
  buffer.add({ beat: true });
  expect(buffer.isVain).toBe(false);
});
