// Values between a module and the database, where they are JSON: integers beyond 2^53 are bigints here, and smaller ones
// where the schema wants them.
import type { z } from 'zod';
import { isTooDeep, MAX_LEVELS, parseJson, storable } from '../contract/json.ts';
import type { Issue } from '../contract/problem.ts';
import { check, type Checked } from '../rules/issues.ts';

/**
 * The value as it will come out of the database: large integers are opaque, as `parseJson` makes them. It is to lie `below`
 * so many levels.
 *
 * @throws {TypeError} when JSON cannot hold it, or it is nested too deeply.
 */
export function toJson(value: unknown, below = 0): unknown {
  const text = JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'bigint' ? JSON.rawJSON(String(inner)) : inner,
  );
  if (text === undefined) throw new TypeError(`${typeof value} is no JSON`);
  if (isTooDeep(text, MAX_LEVELS - below))
    throw new TypeError(`it is nested more than ${MAX_LEVELS} levels deep`);
  return parseJson(storable(text));
}

/** What the schema makes of a value of `parseJson`. */
export function fromJson<S extends z.ZodType>(schema: S, json: unknown): Checked<z.output<S>> {
  const root = { value: withBigints(json) };
  const found = check(schema, root.value);
  if (!found.issues) return found;
  const wanted = schema.safeParse(root.value).error?.issues.flatMap((issue) => bigintsIn(issue, ['value']));
  for (const path of wanted ?? []) setBigint(root, path);
  return check(schema, root.value);
}

/** Why the schema will not take the value back that is now `json`; null when it will. */
export function misfit(schema: z.ZodType, value: unknown, json: unknown): string | null {
  const { issues } = fromJson(schema, json);
  if (!issues) return null;
  const own = check(schema, value).issues;
  if (own) return findings(own);
  return `${findings(issues)}: JSON gives it back so, and the schema must take that, as z.coerce.date() does of a date`;
}

/** The value of `parseJson`, a copy, with bigints for what is opaque in it. */
function withBigints(value: unknown): unknown {
  if (JSON.isRawJSON(value)) return BigInt(JSON.stringify(value));
  if (Array.isArray(value)) return value.map(withBigints);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withBigints(inner)]));
}

/** Where a bigint is wanted, also in a branch of a union. */
function bigintsIn(issue: z.core.$ZodIssue, above: PropertyKey[]): PropertyKey[][] {
  const path = [...above, ...issue.path];
  if (issue.code === 'invalid_union') return issue.errors.flat().flatMap((inner) => bigintsIn(inner, path));
  return issue.code === 'invalid_type' && issue.expected === 'bigint' ? [path] : [];
}

function setBigint(root: object, path: PropertyKey[]): void {
  let place: unknown = root;
  for (const key of path.slice(0, -1)) place = Object(place)[key];
  const [last] = path.slice(-1);
  if (typeof place !== 'object' || place === null || last === undefined) return;
  const value: unknown = Reflect.get(place, last);
  if (Number.isSafeInteger(value)) Reflect.set(place, last, BigInt(Number(value)));
}

/** What a schema finds wrong, in one line. */
export function findings(issues: readonly Issue[]): string {
  return issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ');
}
