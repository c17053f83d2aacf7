import { expect, test } from 'vitest';
import { isShown, readServiceLine } from './service-line.ts';

const base = { level: 'info', time: '2026-11-30T10:00:00.000Z', service: 'api', pid: 7 };
const textOf = (line: object) => readServiceLine(JSON.stringify({ ...base, ...line })).text;

test('message and fields, without what every line has', () => {
  expect(textOf({ msg: 'listening', url: 'http://127.0.0.1:3000', tries: 2 })).toBe(
    'listening url=http://127.0.0.1:3000 tries=2',
  );
  expect(textOf({ msg: 'x', why: 'two words', of: ['a'] })).toBe('x why="two words" of=["a"]');
});

test('an error says its reason once, and where it was thrown only if it ended the service', () => {
  const err = { message: 'no such table', stack: 'Error: no such table\n    at read (a.ts:1:1)' };
  expect(textOf({ msg: 'step failed', err })).toBe('step failed: no such table');
  expect(textOf({ level: 'fatal', msg: 'no such table', err })).toBe('no such table\n    at read (a.ts:1:1)');
});

test.each(['', 'plain text', '17', '{"msg":"no level"}', '{"level":30,"msg":"x"}'])(
  'what is no log line is shown as it is: %s',
  (line) => {
    expect(readServiceLine(line)).toMatchObject({ text: line, level: 'info', fields: {} });
  },
);

test('a long value is cut', () => {
  expect(textOf({ msg: 'x', sql: 'y'.repeat(1_000) }).length).toBeLessThan(320);
});

test('levels', () => {
  expect(isShown('warn', 'info')).toBe(true);
  expect(isShown('info', 'warn')).toBe(false);
  expect(isShown('fatal', 'silent')).toBe(false);
});
