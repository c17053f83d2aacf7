import { expect, test } from 'vitest';
import { createPrinter } from './printer.ts';

const ESC = String.fromCharCode(27);

function printed(line: string, { json = false, isTerminal = true } = {}): string {
  let text = '';
  const write = (more: string) => {
    text += more;
  };
  createPrinter({ names: ['api', 'wfg'], level: 'info', json, write, isTerminal }).line('api', line);
  return text;
}

test('a service that repeats what a job wrote does not take the terminal over', () => {
  const err = { message: `bad output ${ESC}]0;title${ESC}[2J\rfaked` };
  const line = JSON.stringify({ level: 'warn', msg: 'step failed', err });
  expect(printed(line)).toContain('bad output ␛]0;title␛[2J faked');
  expect(printed(`crash ${ESC}[2J`)).toContain('crash ␛[2J');
  expect(printed(`crash ${ESC}[2J`, { json: true })).toBe('crash ␛[2J\n');
});

test('a program gets the lines as they were written', () => {
  const line = `{"level":"info","msg":"${String.fromCharCode(0x9b)}2J"}`;
  expect(printed(line, { json: true, isTerminal: false })).toBe(`${line}\n`);
});
