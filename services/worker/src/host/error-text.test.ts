import { expect, test } from 'vitest';
import { errorText } from './error-text.ts';

const cause = new Error('connection refused');

test.for<[string, unknown]>([
  ['no such user', new Error('no such user')],
  ['cannot pay: connection refused', new Error('cannot pay', { cause })],
  ['cannot pay: connection refused', new Error('cannot pay: connection refused', { cause })],
  ['a: b: plain', new Error('a', { cause: new Error('b', { cause: 'plain' }) })],
  ['TypeError', new TypeError('')],
  ['connection refused', new AggregateError([cause])],
  ['plain', 'plain'],
  ['undefined', undefined],
  ['{ code: 7, deep: [ 1 ] }', { code: 7, deep: [1] }],
  ['nul \u2400 and half \ufffd', new Error('nul \0 and half \ud800')],
])('%j', ([text, thrown]) => {
  expect(errorText(thrown)).toBe(text);
});

test('is bounded, whatever the error', () => {
  expect(errorText(new Error('x'.repeat(10_000)))).toBe('x'.repeat(4_096));
  const circular = new Error('a');
  circular.cause = new Error('b', { cause: circular });
  expect(errorText(circular)).toBe(`a${': b: a'.repeat(5)}`);
});
