import type { LogStream } from '@wfg/shared/contract/log';
import type { NumberedText } from '@wfg/shared/rules/log-numbering';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLogCutter } from './log-cutter.ts';

const NO_LIMIT = Number.MAX_SAFE_INTEGER;

describe('cutting by time', () => {
  test('complete lines are sent after 50 ms, an open one after 250 ms', () => {
    const cutter = createLogCutter(NO_LIMIT);
    expect(cutter.dueAt()).toBe(Infinity);
    expect(cutter.write('stdout', 'one\ntwo\nthr', 1_000)).toEqual([]);
    expect(cutter.dueAt()).toBe(1_050);
    expect(cutter.flush(1_049)).toEqual([]);
    expect(cutter.flush(1_050)).toMatchObject([{ line: 1, data: 'one\ntwo\n', lines: 2, bytes: 8 }]);
    expect(cutter.dueAt()).toBe(1_250);
    expect(cutter.flush(1_250)).toMatchObject([{ line: 3, data: 'thr', lines: 3, bytes: 11 }]);
    expect(cutter.write('stdout', 'ee\n', 1_300)).toEqual([]);
    expect(cutter.flush(1_350)).toMatchObject([{ line: 3, data: 'ee\n', lines: 3, bytes: 14 }]);
    expect(cutter.dueAt()).toBe(Infinity);
  });

  test('a progress bar is cut at carriage returns and stays one line', () => {
    const cutter = createLogCutter(NO_LIMIT);
    cutter.write('stderr', '10%\r20%\r3', 0);
    expect(cutter.flush(50)).toMatchObject([{ line: 1, data: '10%\r20%\r' }]);
    cutter.write('stderr', '0%\n', 60);
    expect(cutter.end()).toMatchObject([{ line: 1, data: '30%\n', lines: 1 }]);
  });

  test('a carriage return is not parted from its line feed', () => {
    const cutter = createLogCutter(NO_LIMIT);
    cutter.write('stdout', 'dos\r', 0);
    expect(cutter.flush(50)).toEqual([]);
    cutter.write('stdout', '\nnext\r', 60);
    expect(cutter.flush(110)).toMatchObject([{ data: 'dos\r\n' }]);
    cutter.write('stdout', 'over', 120);
    expect(cutter.flush(170)).toMatchObject([{ data: 'next\r' }]);
  });
});

test('64 KiB are sent at once, up to the last line end in them', () => {
  const cutter = createLogCutter(NO_LIMIT);
  const line = `${'x'.repeat(99)}\n`;
  const [piece, ...others] = cutter.write('stdout', line.repeat(700), 0);
  expect(others).toEqual([]);
  expect(piece).toMatchObject({ line: 1, lines: 655, data: line.repeat(655) });
  expect(cutter.end()).toMatchObject([{ line: 656, lines: 700 }]);
});

test('lines are numbered over both streams, in order of arrival', () => {
  const cutter = createLogCutter(NO_LIMIT);
  const pieces = [
    ...cutter.write('stdout', 'a\n', 0),
    ...cutter.write('stderr', 'b\nopen', 1),
    ...cutter.write('stdout', 'c\n', 2),
    ...cutter.flush(260),
    ...cutter.write('stdout', 'd\n', 261),
    ...cutter.write('stderr', ' end\ne\n', 262),
    ...cutter.end(),
  ];
  expect(pieces.map(({ stream, line, data }) => [stream, line, data])).toEqual([
    ['stdout', 1, 'a\n'],
    ['stderr', 2, 'b\n'],
    ['stderr', 3, 'open'],
    ['stdout', 4, 'c\n'],
    ['stdout', 5, 'd\n'],
    ['stderr', 3, ' end\n'],
    ['stderr', 6, 'e\n'],
  ]);
});

test('a line of our own begins on a new line, behind all that came before', () => {
  const cutter = createLogCutter(NO_LIMIT);
  cutter.write('stdout', 'open', 0);
  cutter.write('stderr', 'warning\n', 1);
  expect(cutter.writeLine('stdout', '=== two ===').map(({ data }) => data)).toEqual([
    'open',
    'warning\n',
    '\n',
    '=== two ===\n',
  ]);
});

test('the limit is said in a last line, and nothing follows', () => {
  const cutter = createLogCutter(10);
  cutter.write('stdout', 'déjà vu, again\n', 0);
  const pieces = cutter.flush(50);
  expect(pieces.map(({ data }) => data)).toEqual([
    'déjà vu,',
    '\n[wfg] log limit of 10 bytes reached; later output is dropped\n',
  ]);
  expect(pieces.at(-1)?.bytes).toBe(Buffer.byteLength(pieces.map(({ data }) => data).join('')));
  expect(cutter.write('stderr', 'more\n'.repeat(100_000), 60)).toEqual([]);
  expect(cutter.writeLine('stdout', 'note')).toEqual([]);
  expect(cutter.end()).toEqual([]);
});

interface Write {
  stream: LogStream;
  text: string;
  wait: number;
}

const text = fc.oneof(
  fc.array(fc.constantFrom('a', '\n', '\r', '\r\n', 'é', '€', '😀', 'word ', '\n\n'), { maxLength: 20 }),
  fc.array(fc.constantFrom('y'.repeat(30_000), '€'.repeat(25_000), '😀'.repeat(17_000), '\n'), {
    maxLength: 4,
  }),
);
const writes: fc.Arbitrary<Write[]> = fc.array(
  fc.record({
    stream: fc.constantFrom<LogStream>('stdout', 'stderr'),
    text: text.map((parts) => parts.join('')),
    wait: fc.integer({ min: 0, max: 300 }),
  }),
  { maxLength: 30 },
);

function cutAll(all: Write[], maxBytes = NO_LIMIT): NumberedText[] {
  const cutter = createLogCutter(maxBytes);
  let now = 0;
  const pieces = all.flatMap(({ stream, text, wait }) => {
    const due = cutter.flush((now += wait));
    return [...due, ...cutter.write(stream, text, now)];
  });
  return [...pieces, ...cutter.end()];
}

describe('whatever is printed', () => {
  test('the pieces of a stream are its text, each within bounds and of whole characters', () => {
    fc.assert(
      fc.property(writes, (all) => {
        const pieces = cutAll(all);
        for (const stream of ['stdout', 'stderr'] as const) {
          const printed = all.filter((write) => write.stream === stream).map((write) => write.text);
          const kept = pieces.filter((piece) => piece.stream === stream).map((piece) => piece.data);
          expect(kept.join('')).toBe(printed.join(''));
        }
        for (const { data } of pieces) {
          expect(data).not.toBe('');
          expect(Buffer.byteLength(data)).toBeLessThanOrEqual(65_536);
          expect(data.isWellFormed()).toBe(true);
        }
      }),
    );
  });

  test('each line has a number of its own, and totals are running sums', () => {
    fc.assert(
      fc.property(writes, (all) => {
        const lines = new Map<number, string>();
        let bytes = 0;
        for (const piece of cutAll(all)) {
          bytes += Buffer.byteLength(piece.data);
          expect(piece.bytes).toBe(bytes);
          const parts = piece.data.split(/(?<=\n)/);
          for (const [index, part] of parts.entries()) {
            const number = piece.line + index;
            const known = lines.get(number) ?? `${piece.stream}:`;
            expect(known).toMatch(new RegExp(`^${piece.stream}:[^\n]*$`));
            lines.set(number, known + part);
          }
          expect(piece.lines).toBe(lines.size);
        }
        expect([...lines.keys()].sort((a, b) => a - b)).toEqual(Array.from(lines, (_, index) => index + 1));
      }),
    );
  });

  test('a limit keeps what fits', () => {
    fc.assert(
      fc.property(writes, fc.integer({ min: 0, max: 100_000 }), (all, maxBytes) => {
        const printed = all.reduce((sum, write) => sum + Buffer.byteLength(write.text), 0);
        const pieces = cutAll(all, maxBytes);
        const notice = pieces.at(-1)?.data.match(/^\n?\[wfg\] log limit.*\n$/)?.[0] ?? '';
        expect(notice !== '').toBe(printed > maxBytes);
        // The notice begins on a line of its own, for which it may end the last one.
        const kept = (pieces.at(-1)?.bytes ?? 0) - notice.trimStart().length;
        expect(kept).toBeLessThanOrEqual(maxBytes + 1);
        expect(kept).toBeGreaterThan(notice === '' ? -1 : maxBytes - 4);
      }),
    );
  });
});
