// Values of options that the contract has a rule for: refused here, where they have the name that the user gave them.
import { check } from '@wfg/shared/rules/issues';
import type { z } from 'zod';
import { textOf, type Values } from './command.ts';
import { usage } from './exit-error.ts';

/** The option's text if the rule takes it; undefined when it was not given. */
export function optionOf(values: Values, name: string, rule: z.ZodType): string | undefined {
  const text = textOf(values, name);
  if (text !== undefined) mustFit(`--${name}`, rule, text);
  return text;
}

/** @throws {ExitError} saying what `what` must be. */
export function mustFit(what: string, rule: z.ZodType, value: unknown): void {
  const { issues } = check(rule, value);
  if (issues) throw usage(`${what} ${issues[0]?.message}, and is ${JSON.stringify(value)}`);
}
