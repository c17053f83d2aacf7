// JSON as the values of expressions, and back. The library's objects lose names such as `constructor` and all but one
// of names that differ in case, and its numbers lose digits; these do not.
import { data } from '@actions/expressions';
import { parseJson } from '../../contract/json.ts';
import { ExpressionError } from './expression-error.ts';

export type Value = data.ExpressionData;

/** Deeper than any payload that a person reads; recursion over values is bounded by it. */
export const MAX_DEPTH = 100;

/** An object: a name is found as it is written, or else ignoring case if only one fits. */
export class Names extends data.Dictionary {
  readonly #values: ReadonlyMap<string, Value>;
  readonly #folded = new Map<string, Value | null>();

  constructor(entries: Iterable<readonly [string, Value]>) {
    super();
    this.#values = new Map(entries);
    for (const [name, value] of this.#values) {
      const key = name.toLowerCase();
      this.#folded.set(key, this.#folded.has(key) ? null : value);
    }
  }

  override get(name: string): Value | undefined {
    return this.#values.get(name) ?? this.#folded.get(name.toLowerCase()) ?? undefined;
  }

  override values(): Value[] {
    return [...this.#values.values()];
  }

  override pairs() {
    return [...this.#values].map(([key, value]) => ({ key, value }));
  }
}

/** An integer that a double cannot hold, in its digits. Compared as the nearest double. */
class LargeInteger extends data.NumberData {
  readonly digits: string;

  constructor(digits: string) {
    super(Number(digits));
    this.digits = digits;
  }

  override coerceString(): string {
    return this.digits;
  }
}

/** @throws {ExpressionError} nested too deeply. */
export function toValue(json: unknown, depth = 0): Value {
  if (depth > MAX_DEPTH) throw new ExpressionError(`JSON is nested more than ${MAX_DEPTH} levels deep`);
  if (typeof json === 'string') return new data.StringData(json);
  if (typeof json === 'number') return new data.NumberData(json);
  if (typeof json === 'boolean') return new data.BooleanData(json);
  if (JSON.isRawJSON(json)) return new LargeInteger(json.rawJSON);
  if (Array.isArray(json)) {
    const array = new data.Array();
    for (const item of json) array.add(toValue(item, depth + 1));
    return array;
  }
  if (typeof json !== 'object' || json === null) return new data.Null();
  return new Names(Object.entries(json).map(([key, item]) => [key, toValue(item, depth + 1)] as const));
}

/** As JSON that `stringify` takes; numbers that JSON does not have become null there. */
export function toJson(value: Value): unknown {
  if (value instanceof data.Null) return null;
  if (value instanceof LargeInteger) return JSON.rawJSON(value.digits);
  if (value instanceof data.Array) return value.values().map(toJson);
  if (value instanceof data.Dictionary) {
    return Object.fromEntries(value.pairs().map(({ key, value: item }) => [key, toJson(item)]));
  }
  return value.value;
}

/** @throws {ExpressionError} when it is not JSON; the text, which may be secret, is not told. */
export function parseValue(text: string): Value {
  if (text.trim() === '') throw new ExpressionError('fromJSON() was given an empty text');
  let json: unknown;
  try {
    json = parseJson(text);
  } catch {
    throw new ExpressionError('fromJSON() was given a text that is not JSON');
  }
  return toValue(json);
}
