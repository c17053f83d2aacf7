// What nobody should send: odd values, and good values with something odd in them.
import { type Arbitrary, constantFrom, nat, tuple } from 'fast-check';

const LONG = 'x'.repeat(100_000);
const NUL = '\0';
const LONE = '\ud800';

/** Values that hardly anything asks for; `rawJSON` writes what no number of JavaScript is. */
const ODD: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 53,
  1e308,
  ...['12345678901234567890', '1e400', '-0', '1e-400'].map((text) => JSON.rawJSON(text)),
  '',
  ' ',
  NUL,
  `a${NUL}b`,
  LONE,
  `a${LONE}b`,
  '😀',
  '\u202e',
  '\r\n',
  LONG,
  '__proto__',
  '../..',
  "'; --",
  '${{ x }}',
  '%s',
  '2026-02-30T00:00:00Z',
  '99999-01-01T00:00:00Z',
  '00000000-0000-0000-0000-000000000000',
  [],
  {},
  [[]],
  [null],
  { '': null },
  { [NUL]: NUL },
  { [LONE]: LONE },
  JSON.parse('{"__proto__":{"x":1}}'),
  nested(200),
  Array.from({ length: 2_000 }, (_, n) => n),
];

/** The same as parts of a URL, as they are written there. */
export const ODD_IN_URL: readonly string[] = [
  '%00',
  'a%00b',
  '%ED%A0%80',
  '%C0%AF',
  '%FF',
  '%',
  '%zz',
  '%2F',
  'a%20b',
  '%0d%0aX-Evil:1',
  '%F0%9F%98%80',
  '%E2%80%AE',
  '-1',
  '0',
  '1.5',
  '1e9',
  '9007199254740993',
  '99999999999999999999',
  'NaN',
  'null',
  'true',
  '[]',
  '__proto__',
  'constructor',
  '%27%3B--',
  '00000000-0000-0000-0000-000000000000',
  '2026-02-30T00:00:00Z',
  '1:1',
  ':',
  'x'.repeat(300),
  '0'.repeat(4_000),
];

export const MEDIA_TYPES: readonly (string | undefined)[] = [
  undefined,
  '',
  'text/plain',
  'application/xml',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  'application/json; charset=utf-16',
  'application/json, text/plain',
  'APPLICATION/JSON',
  'application/problem+json',
  'application/yaml',
  'text/yaml',
  'json',
  '/',
  '\u00e4',
];

/** Texts that are no JSON, no YAML, or no text. */
export const ODD_BODIES: readonly (string | Buffer)[] = [
  '',
  ' ',
  '{',
  '}',
  'null',
  '"x"',
  '[]',
  '{}{}',
  "{'a':1}",
  '{"a":1,"a":2}',
  'undefined',
  '\ufeff{}',
  NUL,
  '{"a":"\0"}',
  '{"a":"\t"}',
  '['.repeat(100_000),
  `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
  `{"name":${'1'.repeat(100_000)}}`,
  Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
  Buffer.from('{"name":"\xff\xfe"}', 'latin1'),
  'a: &a [*a]',
  'a: *b',
  '%YAML 9.9\n---\na',
  '--- a\n--- b',
  '!!js/function "x"',
  '? [a]\n: b',
  '\t- a',
  'a: !!binary ///',
  '<<: 1',
  `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'.replaceAll(/./g, (key, at) => `${key}: &${key} [${`*${'abcdefgh'[at]},`.repeat(9)}]\n`)}`,
];

/** The value with one of its parts replaced by something odd, left out, or joined by another. */
export function spoiled(sample: Arbitrary<unknown>): Arbitrary<unknown> {
  const how = constantFrom('replace', 'remove', 'add');
  return tuple(sample, nat(), how, constantFrom(...ODD)).map(([value, at, change, odd]) => {
    // So that a shrunk sample is not changed too; what has no place is odd itself.
    const root = { value: structuredClone(value) };
    const places = placesOf(root);
    const [parent, key] = places[at % places.length] ?? [root, 'value'];
    if (change === 'remove') Reflect.deleteProperty(parent, key);
    else if (change === 'replace') Reflect.set(parent, key, odd);
    else if (Array.isArray(parent)) parent.push(odd);
    else Reflect.set(parent, 'odd', odd);
    return root.value;
  });
}

/** Every value of an object and of what is in it, by its parent and key. */
function placesOf(parent: object): [object, string][] {
  return Object.entries(parent).flatMap(([key, value]) => [
    [parent, key] as [object, string],
    ...(typeof value === 'object' && value !== null ? placesOf(value) : []),
  ]);
}

function nested(depth: number): unknown {
  return depth === 0 ? [] : [nested(depth - 1)];
}
