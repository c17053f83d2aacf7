// What every command is: its own words for help, its options, and what it does.
import type { ParseArgsConfig } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;

/** Values of options as parseArgs gives them. */
export type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

export interface Command {
  /** Positional arguments and options, as shown in help: `FILE [--env K=V]...`. */
  usage: string;
  /** One line for the list of commands. */
  summary: string;
  /** More lines for `wfg help <command>`. */
  details?: string;
  options: Options;
  /** Least and most positional arguments. */
  arity: readonly [number, number];
  /** Resolves with the exit code. */
  run: (args: string[], values: Values) => Promise<number>;
}

export type LoadCommand = () => Promise<Command>;

/** An option's text, or undefined when it was not given. */
export function textOf(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}
