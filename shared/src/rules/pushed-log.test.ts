import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { acceptPush, emptyPush, type PushedChunk, type PushedRow } from './pushed-log.ts';

const NO_LIMIT = Number.MAX_SAFE_INTEGER;

function chunk(sequence: number, data: string, stream: 'stdout' | 'stderr' = 'stdout'): PushedChunk {
  return { sequence, data, stream, timestamp_ms: 1_000 + sequence };
}

const line = (sequence: number) => chunk(sequence, `line ${sequence}\n`);

const textOf = (rows: readonly PushedRow[]) => rows.map(({ data }) => data).join('');

test('rows are numbered by us, with the line and the totals that readers need', () => {
  const log = emptyPush();
  expect(acceptPush(log, [line(0), chunk(1, 'a\nb', 'stderr'), chunk(2, 'c\n', 'stderr')], NO_LIMIT)).toEqual(
    [
      { sequence: 0, stream: 'stdout', line: 1, lines: 1, bytes: 7, data: 'line 0\n', at: new Date(1_000) },
      { sequence: 1, stream: 'stderr', line: 2, lines: 3, bytes: 10, data: 'a\nb', at: new Date(1_001) },
      { sequence: 2, stream: 'stderr', line: 3, lines: 3, bytes: 12, data: 'c\n', at: new Date(1_002) },
    ],
  );
  expect(log).toMatchObject({ next: 3, chunks: 3, lines: 3, bytes: 12 });
});

test('what was pushed before is ignored, what is missing is said', () => {
  const log = emptyPush();
  acceptPush(log, [line(0), line(1)], NO_LIMIT);
  expect(acceptPush(log, [line(0), line(1)], NO_LIMIT)).toEqual([]);
  expect(textOf(acceptPush(log, [line(1), line(2)], NO_LIMIT))).toBe('line 2\n');
  expect(textOf(acceptPush(log, [chunk(7, 'open')], NO_LIMIT))).toBe(
    '[wfg] 4 chunks of this log got lost\nopen',
  );
  expect(textOf(acceptPush(log, [line(5)], NO_LIMIT))).toBe('');
  expect(textOf(acceptPush(log, [line(9)], NO_LIMIT))).toBe('\n[wfg] 1 chunk of this log got lost\nline 9\n');
  expect(log.next).toBe(10);
});

test('an empty chunk has its place in the count', () => {
  const log = emptyPush();
  expect(acceptPush(log, [chunk(0, '')], NO_LIMIT)).toMatchObject([{ line: 1, lines: 0, data: '' }]);
  expect(acceptPush(log, [line(1)], NO_LIMIT)).toMatchObject([{ sequence: 1, line: 1, lines: 1 }]);
});

test('what no text can hold is made visible', () => {
  expect(textOf(acceptPush(emptyPush(), [chunk(0, 'a\0b\ud800c\n')], NO_LIMIT))).toBe('a␀b\ufffdc\n');
});

test('a large chunk is cut at line ends, and where there are none between characters', () => {
  const log = emptyPush();
  const rows = acceptPush(
    log,
    [chunk(0, `${'x'.repeat(99)}\n`.repeat(2_000) + 'ä'.repeat(50_000))],
    NO_LIMIT,
  );
  expect(rows.map(({ data }) => Buffer.byteLength(data))).toEqual([
    65_500, 65_500, 65_500, 3_500, 65_536, 34_464,
  ]);
  expect(rows.map(({ line: first }) => first)).toEqual([1, 656, 1_311, 1_966, 2_001, 2_001]);
});

test('beyond the limit nothing is kept, which the last line says', () => {
  const log = emptyPush();
  const text = textOf(acceptPush(log, [line(0), line(1), line(2)], 17));
  expect(text).toBe('line 0\nline 1\nlin\n[wfg] log limit of 17 bytes reached; later output is dropped\n');
  expect(acceptPush(log, [line(3), line(5), chunk(6, '')], 17)).toEqual([]);
  expect(log).toMatchObject({ next: 7, is_full: true });
});

test('however pushes are cut, repeated and shuffled, each line is there at most once and in order', () => {
  const Push = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 8 });
  fc.assert(
    fc.property(fc.array(Push), (pushes) => {
      const log = emptyPush();
      const rows = pushes.flatMap((push) => acceptPush(log, push.map(line), NO_LIMIT));
      expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, index) => index));
      const told = textOf(rows).trimEnd().split('\n');
      let next = 0;
      for (const text of told.filter((one) => one !== '')) {
        const [, number = ''] = /(\d+)/.exec(text) ?? [];
        expect(text).toMatch(text.startsWith('[wfg]') ? / got lost$/ : new RegExp(`^line ${next}$`));
        next += text.startsWith('[wfg]') ? Number(number) : 1;
      }
      expect(next).toBe(Math.max(-1, ...pushes.flat()) + 1);
      expect(rows.at(-1)?.lines ?? 0).toBe(rows.length);
    }),
  );
});
