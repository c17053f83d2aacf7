import { expect, test } from 'vitest';
import { parseJson } from '../contract/json.ts';
import { z } from 'zod';
import { check } from './issues.ts';

const Nested = z.strictObject({ list: z.union([z.string(), z.array(z.string())]) });

test.for([
  [z.string(), undefined, ': is missing: must be text'],
  [z.string(), 5, ': must be text: put the value in quotes'],
  [z.string(), null, ': must be text'],
  [z.array(z.string()), 'gpu', ': must be a list, like [a, b]'],
  [z.record(z.string(), z.string()), null, ': must be a map'],
  [z.int().max(30), 99, ': must be at most 30'],
  [z.int(), 1.5, ': must be a whole number'],
  [z.string().min(2), 'a', ': must be at least 2 characters'],
  [z.enum(['a', 'b']), 'c', ': must be "a" or "b"'],
  [Nested, { list: true }, 'list: must be text: put the value in quotes, or must be a list, like [a, b]'],
  [Nested, { list: [[]] }, 'list.0: must be text'],
  [z.union([z.null(), z.strictObject({ a: Nested })]), { a: { lists: 1 } }, 'a.lists: unknown key "lists"'],
  [z.union([Nested, z.null()], { error: 'must be nested' }), { list: [5] }, ': must be nested'],
] as const)('%# what is wrong is told by what is wanted', ([schema, value, told]) => {
  const lines = check(schema, value).issues?.map(({ path, message }) => `${path}: ${message}`);
  expect(lines).toContain(told);
});

test('what fits is handed over as the schema makes it', () => {
  expect(check(z.string().default('x'), undefined)).toEqual({ data: 'x' });
});

test('a number that no number can hold is called too large, not another type', () => {
  const value = parseJson('{"n":90071992547409930}');
  expect(check(z.object({ n: z.int() }), value).issues).toEqual([
    { path: 'n', message: 'is too large a number' },
  ]);
});
