import { expect, test } from 'vitest';
import { messageOf } from './message-of.ts';

test.each([
  [new Error('it broke'), 'it broke'],
  ['text', 'text'],
  [undefined, 'undefined'],
  [
    new AggregateError([new Error('refused by ::1'), new Error('refused by 127.0.0.1')], ''),
    'refused by ::1',
  ],
  [new AggregateError([new Error('inner')], 'outer'), 'outer'],
])('%s', (thrown, text) => {
  expect(messageOf(thrown)).toBe(text);
});
