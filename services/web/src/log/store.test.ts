import { expect, test } from 'vitest';
import { type Chunk, LINE_LIMIT, createLogStore } from './store.ts';

function storeOf(...chunks: Partial<Chunk>[]) {
  const store = createLogStore();
  chunks.forEach((chunk, sequence) =>
    store.append({ attempt: 0, sequence, stream: 'stdout', timestamp_ms: 1, data: '', ...chunk }),
  );
  return store;
}

const texts = (store: ReturnType<typeof storeOf>) => store.lines.map((line) => line.text);

test('a chunk is cut into its lines', () => {
  const store = storeOf({ data: 'one\n\nthree\n' });
  expect(texts(store)).toEqual(['one', '', 'three']);
  expect(store.lines.map((line) => line.number)).toEqual([1, 2, 3]);
});

test('a chunk that ends in mid line is continued by the next', () => {
  expect(texts(storeOf({ data: 'one\ntw' }, { data: 'o' }, { data: '\nthree' }))).toEqual([
    'one',
    'two',
    'three',
  ]);
});

test('each stream continues its own line', () => {
  const store = storeOf({ data: 'out-' }, { data: 'err\n', stream: 'stderr' }, { data: 'put\nnext\n' });
  expect(store.lines.map(({ number, stream, text }) => [number, stream, text])).toEqual([
    [1, 'stdout', 'out-put'],
    [2, 'stderr', 'err'],
    [3, 'stdout', 'next'],
  ]);
});

test('what is not newer is ignored', () => {
  const store = storeOf(
    { data: 'a\n' },
    { data: 'b\n' },
    { data: 'a\n', sequence: 0 },
    { data: 'b\n', sequence: 1 },
    { data: 'c\n', sequence: 2 },
  );
  expect(texts(store)).toEqual(['a', 'b', 'c']);
  expect(store.position()).toBe('0:2');
});

test('a position is known only after a chunk', () => {
  expect(createLogStore().position()).toBeUndefined();
});

test('another attempt begins under a note, counted anew, and never continues a line of the last', () => {
  const store = storeOf({ data: 'broken' }, { data: 'again\n', attempt: 1, sequence: 0 });
  store.append({ attempt: 0, sequence: 9, stream: 'stdout', timestamp_ms: 1, data: 'late\n' });
  expect(store.lines.map(({ attempt, number, text }) => [attempt, number, text])).toEqual([
    [0, 1, 'broken'],
    [1, 0, 'Attempt 1'],
    [1, 1, 'again'],
  ]);
  expect(store.count()).toBe(2);
  expect(store.position()).toBe('1:0');
});

test('an attempt announced twice has one note', () => {
  const store = storeOf({ data: 'a\n' });
  store.beginAttempt(1);
  store.beginAttempt(1);
  store.append({ attempt: 1, sequence: 0, stream: 'stdout', timestamp_ms: 1, data: 'b\n' });
  expect(texts(store)).toEqual(['a', 'Attempt 1', 'b']);
});

test('a hole is said out loud', () => {
  const store = storeOf({ data: 'a\n' }, { data: 'b\n', sequence: 4 });
  expect(texts(store)).toEqual(['a', 'Part of the output is missing here (3 pieces)', 'b']);
});

test('a progress bar over many chunks stays one short line', () => {
  const steps = Array.from({ length: 500 }, (_, i) => ({ data: `${i}%\r` }));
  expect(texts(storeOf(...steps, { data: 'done\r\n' }))).toEqual(['done\r']);
});

test('a line without end is kept to a limit, and what is cut is counted', () => {
  const [line] = storeOf({ data: 'x'.repeat(LINE_LIMIT - 1) }, { data: 'yz' }, { data: 'z\n' }).lines;
  expect(line?.text.length).toBe(LINE_LIMIT);
  expect(line?.text.endsWith('xy')).toBe(true);
  expect(line?.cut).toBe(2);
});
