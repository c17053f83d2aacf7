// What a schema finds wrong, as issues with dotted paths, in words that say what is wanted instead.
import type { z } from 'zod';
import type { Issue } from '../contract/problem.ts';

export type Checked<T> = { data: T; issues?: never } | { data?: never; issues: Issue[] };

/** The value as the schema makes it, or all that is wrong with it. */
export function check<S extends z.ZodType>(schema: S, value: unknown): Checked<z.output<S>> {
  const parsed = schema.safeParse(value, { error: inWords });
  return parsed.success ? { data: parsed.data } : { issues: issuesOf(parsed.error) };
}

/** Zod's findings; those of `check` are in our words. */
export function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.flatMap((issue) => issuesIn(issue, []));
}

function issuesIn(issue: z.core.$ZodIssue, above: PropertyKey[]): Issue[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key].join('.'), message: `unknown key "${key}"` }));
  }
  // Of a key that does not fit, the path has it.
  if (issue.code === 'invalid_key') return issue.issues.flatMap((inner) => issuesIn(inner, path));
  if (issue.code === 'invalid_union' && issue.message === SEE_INSIDE) {
    return insideOf(issue.errors).flatMap((inner) => issuesIn(inner, path));
  }
  return [{ path: path.join('.'), message: issue.message }];
}

/** Of a union with no words of its own, of which one branch has the value's form: what is wrong is further in. */
const SEE_INSIDE = '';

function insideOf(branches: readonly z.core.$ZodIssue[][]): z.core.$ZodIssue[] {
  return branches.flat().filter((inner) => inner.path.length > 0);
}

const WANTED: Partial<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list, like [a, b]',
  object: 'a map',
  record: 'a map',
};

/** Undefined leaves it to zod's own words. Those that a schema has for itself go before. */
function inWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type': {
      const wanted = WANTED[issue.expected];
      if (wanted === undefined) return undefined;
      if (issue.input === undefined) return `is missing: must be ${wanted}`;
      // What keeps all its digits is no number to a schema.
      if (wanted.endsWith('number') && JSON.isRawJSON(issue.input)) return 'is too large a number';
      const isBare = wanted === 'text' && ['number', 'boolean'].includes(typeof issue.input);
      return `must be ${wanted}${isBare ? ': put the value in quotes' : ''}`;
    }
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${UNITS[issue.origin] ?? ''}`;
    case 'too_small':
      return `must be at least ${issue.minimum}${UNITS[issue.origin] ?? ''}`;
    case 'invalid_union': {
      if (insideOf(issue.errors).length > 0) return SEE_INSIDE;
      const told = new Set(issue.errors.flat().map(({ message }) => message));
      return [...told].join(', or ') || undefined;
    }
    default:
      return undefined;
  }
}

const UNITS: Partial<Record<string, string>> = { string: ' characters', array: ' items' };
