import { expect, test } from 'vitest';
import { jsonOrUndefined, parseJson, toStorableJson, toStorableText } from './json.ts';

test('integers beyond 2^53 keep their digits', () => {
  const text =
    '{"a":12345678901234567890,"b":[-9007199254740993],"c":1.25,"d":"12345678901234567890","e":1e400}';
  const value = parseJson(text);
  expect(JSON.stringify(value)).toBe(text.replace('1e400', 'null'));
});

test('numbers that fit stay numbers', () => {
  expect(parseJson('{"a":9007199254740991,"b":0.1234567890123456789}')).toEqual({
    a: 9007199254740991,
    b: 0.12345678901234568,
  });
});

test('what PostgreSQL cannot store is made visible', () => {
  expect(toStorableJson({ a: 'x\0y', b: '\ud800z', c: '\\u0000', d: '\u{1f600}' })).toBe(
    '{"a":"x␀y","b":"�z","c":"\\\\u0000","d":"\u{1f600}"}',
  );
  expect(toStorableText('x\0y\udc00')).toBe('x␀y�');
});

test('what is no JSON is undefined', () => {
  expect(jsonOrUndefined('{"a":1}')).toEqual({ a: 1 });
  expect(jsonOrUndefined('{"a":')).toBeUndefined();
});
