import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLineCommands } from './line-commands.ts';
import { OutputCollector, OutputError, parseOutputFile, readOutputFile } from './outputs.ts';

describe('the file WFG_OUTPUT', () => {
  test('takes values of one line and of several', () => {
    const text = 'a=1\n\nurl=http://x/?q=1<<2\r\nnotes<<EOT\nfirst\n\n b=2\nEOT\nempty=\nlast<<E\nE\na=2';
    expect(parseOutputFile(text)).toEqual([
      ['a', '1'],
      ['url', 'http://x/?q=1<<2'],
      ['notes', 'first\n\n b=2'],
      ['empty', ''],
      ['last', ''],
      ['a', '2'],
    ]);
  });

  test.each([
    ['a=1\nnonsense', 'WFG_OUTPUT, line 2: must be KEY=VALUE or KEY<<DELIMITER'],
    ['=1', 'WFG_OUTPUT, line 1: must be KEY=VALUE or KEY<<DELIMITER'],
    ['a<<END\nvalue\nEND of it', 'WFG_OUTPUT, line 1: the line END that ends it is missing'],
  ])('%j is refused with its line', (text, message) => {
    expect(() => parseOutputFile(text)).toThrow(new OutputError(message));
  });

  let dir: string;
  beforeAll(async () => void (dir = await mkdtemp(join(tmpdir(), 'wfg-test-'))));
  afterAll(() => rm(dir, { recursive: true }));

  test('may be gone, but not be something else, or huge', async () => {
    const path = join(dir, 'output');
    await expect(readOutputFile(path)).resolves.toBe('');
    await expect(readOutputFile(dir)).rejects.toThrow('no longer a file');
    execFileSync('mkfifo', [path]);
    await expect(readOutputFile(path)).rejects.toThrow('no longer a file');
    await rm(path);
    await writeFile(path, Buffer.concat([Buffer.from('a=b\0'), Uint8Array.of(0xff)]));
    await expect(readOutputFile(path)).resolves.toBe('a=b\u2400\uFFFD');
    await writeFile(path, 'x'.repeat(2_097_153));
    await expect(readOutputFile(path)).rejects.toThrow('larger than 1 MiB');
  });
});

test('1 MiB is the limit of all outputs, and a later value replaces an earlier one', () => {
  const outputs = new OutputCollector();
  outputs.set('k', 'x'.repeat(1_048_575));
  outputs.set('k', 'y'.repeat(1_048_575));
  expect(outputs.all()).toEqual({ k: 'y'.repeat(1_048_575) });
  outputs.set('l', '');
  expect(() => outputs.all()).toThrow('outputs are larger than 1 MiB');
});

function read(parts: Iterable<string>) {
  const outputs = new OutputCollector();
  const masks: string[] = [];
  const commands = createLineCommands(outputs, (value) => masks.push(value));
  const shown = Array.from(parts, (part) => commands.write(part)).join('') + commands.end();
  return { shown, outputs: outputs.all(), masks };
}

describe('lines for wfg on stdout', () => {
  test('are found at the start of a line only, and divided at the first =', () => {
    const text =
      '::set-output a=1=2\nsay ::set-output b=no\n ::set-output c=no\n::set-output d\n:::\n::add-mask::s3cret\r\n\n::set-output e=';
    expect(read([text])).toEqual({ shown: text, outputs: { a: '1=2', e: '' }, masks: ['s3cret'] });
  });

  test('hold back no other line', () => {
    const commands = createLineCommands(new OutputCollector(), () => undefined);
    expect(commands.write('Password: ')).toBe('Password: ');
    expect(commands.write('\n::')).toBe('\n');
    expect(commands.write('group::x')).toBe('::group::x');
    expect(commands.write('\n::set-output a')).toBe('\n');
    expect(commands.write('=b')).toBe('');
    expect(commands.write('\nrest')).toBe('::set-output a=b\nrest');
  });

  test('that are too long are shown and refused', () => {
    const outputs = new OutputCollector();
    const commands = createLineCommands(outputs, () => undefined);
    const long = `::set-output a=${'x'.repeat(1_100_000)}`;
    expect(commands.write(long)).toBe(long);
    expect(() => outputs.all()).toThrow('larger than 1 MiB');
  });

  test('are the same however output is parted', () => {
    const parts = fc.array(
      fc.constantFrom('::set-output ', '::add-mask::', ':', 'k=v', 'x', '\n', '\n', '\r\n', '::'),
    );
    fc.assert(
      fc.property(parts, (pieces) => {
        const whole = read([pieces.join('')]);
        expect(whole.shown).toBe(pieces.join(''));
        expect(read(pieces)).toEqual(whole);
        expect(read(pieces.join(''))).toEqual(whole);
      }),
    );
  });
});
