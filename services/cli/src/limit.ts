// How many of a list are wanted.
import { textOf, type Values } from './command.ts';
import { usage } from './exit-error.ts';

/** That of `--limit`; undefined when it is not given. */
export function limitOf(values: Values): number | undefined {
  const text = textOf(values, 'limit');
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw usage(`--limit must be a number from 1 to 999999, and is "${text}"`);
}
