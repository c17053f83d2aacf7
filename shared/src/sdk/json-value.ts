// Values between a module and the database, where they are JSON: integers beyond 2^53 are bigints here.
import { parseJson } from '../contract/json.ts';
import type { Issue } from '../contract/problem.ts';

/**
 * The value as `JSON.parse` would give it, were it not for large integers: opaque, as `parseJson` makes them.
 *
 * @throws {TypeError} when JSON cannot hold it.
 */
export function toJson(value: unknown): unknown {
  const text = JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'bigint' ? JSON.rawJSON(String(inner)) : inner,
  );
  if (text === undefined) throw new TypeError(`${typeof value} is no JSON`);
  return parseJson(text);
}

/** The value of `parseJson` with bigints for what is opaque in it. */
export function withBigints(value: unknown): unknown {
  if (JSON.isRawJSON(value)) return BigInt(JSON.stringify(value));
  if (Array.isArray(value)) return value.map(withBigints);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withBigints(inner)]));
}

/** What a schema finds wrong, in one line. */
export function findings(issues: readonly Issue[]): string {
  return issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ');
}
