import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createMasker, Secrets } from './masker.ts';

function secretsOf(...values: string[]): Secrets {
  const secrets = new Secrets();
  for (const value of values) secrets.add(value);
  return secrets;
}

function maskParts(secrets: Secrets, parts: Iterable<string>): string {
  const masker = createMasker(secrets);
  return Array.from(parts, (part) => masker.write(part)).join('') + masker.end();
}

const KEY =
  '-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA7bq8+/0123456789abcdefghijklmnopqrstuvwxyz\nq9==\n-----END KEY-----\n';

test('a secret of several lines printed byte by byte is never shown', () => {
  const shown = maskParts(secretsOf(KEY), `key: ${KEY}done\n`);
  expect(shown).toBe('key: ***\ndone\n');
});

test('its lines are masked also alone, and when the line ends are others', () => {
  const shown = maskParts(secretsOf(KEY), [KEY.replaceAll('\n', '\r\n')]);
  expect(shown).toBe('***\r\n***\r\n***\r\n***\r\n');
});

test('a very long secret is masked in pieces, and what may begin it does not hold the worker up', () => {
  const long = Array.from({ length: 3_000 }, (_, index) => `k${index};`).join('');
  expect(maskParts(secretsOf(long), [`a ${long} b`])).toMatch(/^a (\*\*\*)+ b$/);
  const same = 'a'.repeat(30_000);
  const parts = Array.from({ length: 25 }, () => 'a'.repeat(1_000));
  expect(maskParts(secretsOf(same), parts)).not.toContain('b');
});

function wrap(text: string, width: number): string {
  return text.replaceAll(new RegExp(`.{${width}}`, 'g'), '$&\n');
}

describe('base64', () => {
  test.each([0, 1, 2, 3])('within something larger, from its byte %i', (shift) => {
    const encoded = Buffer.from(`${'-'.repeat(shift)}s3cr3t-value:rest`).toString('base64');
    const shown = maskParts(secretsOf('s3cr3t-value'), encoded);
    expect(shown).toContain('***');
    expect(shown.length).toBeLessThan(encoded.length - 10);
  });

  test.each([76, 64])('in lines of %i', (width) => {
    const encoded = Buffer.from(KEY).toString('base64');
    expect(maskParts(secretsOf(KEY), wrap(encoded, width)).replaceAll(/\s|\*/g, '')).toBe('');
  });

  test('with the line feed of echo', () => {
    expect(maskParts(secretsOf('hunter2'), 'aHVudGVyMgo=')).toBe('***');
  });
});

test('a secret of one character leaves the text readable', () => {
  const secrets = new Secrets();
  expect(secrets.add('a')).toBe(false);
  expect(maskParts(secrets, ['a banana'])).toBe('a banana');
});

test('the longest of several secrets counts, and one added later from there on', () => {
  const secrets = secretsOf('pass', 'password1');
  const masker = createMasker(secrets);
  expect(masker.write('pass')).toBe('');
  expect(masker.write('word1 passw')).toBe('*** ');
  expect(masker.write('ed late')).toBe('***wed late');
  secrets.add('late');
  expect(masker.write(' late ') + masker.end()).toBe(' *** ');
});

test('a held back beginning is shown at the end', () => {
  expect(maskParts(secretsOf('topsecret'), ['not tops'])).toBe('not tops');
});

test('wherever output is parted, it is masked alike, and all else is kept', () => {
  const secret = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 4, maxLength: 6 });
  const piece = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' '), maxLength: 5 });
  fc.assert(
    fc.property(fc.array(secret, { minLength: 1, maxLength: 3 }), fc.array(piece), (values, parts) => {
      const secrets = secretsOf(...values);
      const shown = maskParts(secrets, parts);
      expect(shown).toBe(secrets.mask(parts.join('')));
      for (const value of values) expect(shown).not.toContain(value);
    }),
  );
});
