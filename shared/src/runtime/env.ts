// Reads a configuration from the environment: everything that is wrong is said at once, and no secret is
// ever part of a message.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { messageOf } from '../rules/message-of.ts';

interface FieldNotes {
  /** Can be given as NAME_FILE, the path of a file, and is never shown; of a URL all but its passwords is. */
  secret?: 'url' | 'token';
  /** The variable whose value is taken if this one is not set. */
  sameAs?: string;
}

export const fieldNotes = z.registry<FieldNotes>();

/** What is wrong, a line for each variable. */
export class ConfigError extends Error {
  constructor(problems: string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
  }
}

interface Given {
  /** The variable that the value came from, or the one to set. */
  from: string;
  value: string | undefined;
}

/**
 * Validates the variables named by the schema's keys and returns their values, or throws ConfigError.
 * A variable that is empty counts as not set.
 */
export function parseEnv<S extends z.ZodObject>(schema: S, env: NodeJS.ProcessEnv): z.output<S> {
  const problems: string[] = [];
  const given = new Map<string, Given>();
  for (const [name, field] of Object.entries(schema.shape)) {
    const { secret, sameAs } = fieldNotes.get(field) ?? {};
    const own = read(name, secret, env, problems);
    const from = own === undefined && sameAs !== undefined ? sameAs : name;
    given.set(name, { from, value: from === name ? own : read(from, secret, env, problems) });
  }
  const parsed = schema.safeParse(Object.fromEntries([...given].map(([name, { value }]) => [name, value])));
  for (const { path, message } of parsed.error?.issues ?? []) {
    const name = String(path[0]);
    const { from, value } = given.get(name) ?? { from: name, value: undefined };
    const secret = fieldNotes.get(schema.shape[name])?.secret;
    problems.push(`${from} ${message}${secret || value === undefined ? '' : `, and is "${value}"`}`);
  }
  if (!parsed.success || problems.length > 0) throw new ConfigError([...new Set(problems)]);
  return parsed.data;
}

function read(
  name: string,
  secret: FieldNotes['secret'],
  env: NodeJS.ProcessEnv,
  problems: string[],
): string | undefined {
  const value = env[name] || undefined;
  const fileName = `${name}_FILE`;
  const path = secret && env[fileName];
  if (!path) return value;
  if (value !== undefined) problems.push(`${name} and ${fileName} are both set: remove one`);
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (err) {
    problems.push(`${fileName} cannot be read: ${messageOf(err)}`);
    return undefined;
  }
}

/** The configuration as anyone may see it. */
export function redacted(schema: z.ZodObject, config: Record<string, unknown>): Record<string, unknown> {
  const shown = Object.entries(config).map(([name, value]) => {
    const secret = fieldNotes.get(schema.shape[name])?.secret;
    if (!secret || value === undefined) return [name, value];
    return [name, secret === 'url' && typeof value === 'string' ? hidePasswords(value) : HIDDEN];
  });
  return Object.fromEntries(shown);
}

const HIDDEN = '***';

/** Of a URL the rest stays, to see where it leads; passwords may also be among its parameters. */
function hidePasswords(text: string): string {
  const url = URL.parse(text);
  if (url === null) return HIDDEN;
  if (url.password !== '') url.password = HIDDEN;
  for (const name of url.searchParams.keys()) if (/pass|key/i.test(name)) url.searchParams.set(name, HIDDEN);
  return url.href;
}
