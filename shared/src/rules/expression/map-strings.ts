// Walks JSON and replaces its texts.
import { ExpressionError } from './expression-error.ts';
import { MAX_DEPTH } from './values.ts';

/**
 * The same JSON with what `fn` makes of each text in it; names of fields stay. `place` is a dotted path.
 *
 * @throws {ExpressionError} nested too deeply.
 */
export function mapStrings(
  json: unknown,
  place: string,
  fn: (text: string, place: string) => unknown,
  depth = 0,
): unknown {
  if (depth > MAX_DEPTH) throw new ExpressionError(`JSON is nested more than ${MAX_DEPTH} levels deep`);
  const inner = (item: unknown, key: string | number) => mapStrings(item, `${place}.${key}`, fn, depth + 1);
  if (typeof json === 'string') return fn(json, place);
  if (Array.isArray(json)) return json.map(inner);
  if (typeof json !== 'object' || json === null || JSON.isRawJSON(json)) return json;
  return Object.fromEntries(Object.entries(json).map(([key, item]) => [key, inner(item, key)]));
}
