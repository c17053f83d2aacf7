import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPrintable, printable } from './printable.ts';

test('what cannot be stored is made visible', () => {
  expect(printable(Buffer.from('a\0b'))).toBe('a\u2400b');
  expect(printable(Uint8Array.of(0x61, 0xff, 0x62))).toBe('a\uFFFDb');
  expect(printable(Uint8Array.of(0xed, 0xa0, 0x80))).toBe('\uFFFD\uFFFD\uFFFD');
  expect(printable(Uint8Array.of(0xe2, 0x82))).toBe('\uFFFD');
  expect(printable(Buffer.from('\uFEFFbom'))).toBe('\uFEFFbom');
});

test('it does not matter where the bytes are parted', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.array(fc.nat(200)), (bytes, cuts) => {
      const stream = createPrintable();
      const ends = [...cuts.sort((a, b) => a - b), bytes.length];
      const parts = ends.map((end, index) => stream.write(bytes.subarray(ends[index - 1] ?? 0, end)));
      const text = parts.join('') + stream.end();
      expect(text).toBe(printable(bytes));
      expect(text.isWellFormed() && !text.includes('\0')).toBe(true);
    }),
  );
});
