import { expect, test } from 'vitest';
import { parseBell } from './bell.ts';

const everyoneLooks = { bell: { v: 1, all: true } };

test('a bell is read as it was rung', () => {
  const bell = { v: 1, lanes: { '-42': 3 }, runs: ['r'], settle: true };
  expect(parseBell(JSON.stringify(bell))).toEqual({ bell });
});

test('fields of a newer version are ignored', () => {
  expect(parseBell('{"v":1,"beat":true,"tint":7}')).toEqual({ bell: { v: 1, beat: true } });
});

test.each([undefined, '', 'hello', '{', '[]', 'null', '{"v":2}', '{"v":1,"runs":"r"}', '{"type":"other"}'])(
  'what is not understood means that everyone looks: %s',
  (payload) => {
    expect(parseBell(payload)).toEqual(everyoneLooks);
  },
);

test('stop_worker is for all, or for the worker it names', () => {
  expect(parseBell('stop_worker')).toEqual({ stop: { workerId: null } });
  expect(parseBell('{"type":"stop_worker"}')).toEqual({ stop: { workerId: null } });
  expect(parseBell('{"type":"stop_worker","worker_id":"w1"}')).toEqual({ stop: { workerId: 'w1' } });
});

test('a stop_worker that names its worker wrongly stops nobody', () => {
  expect(parseBell('{"type":"stop_worker","worker_id":7}')).toEqual(everyoneLooks);
});
