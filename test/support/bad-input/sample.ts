// Values that fit a schema of the document, more or less: what else a route asks of them the document cannot say.
import {
  type Arbitrary,
  array,
  boolean,
  constant,
  constantFrom,
  dictionary,
  nat,
  oneof,
  record,
  tuple,
} from 'fast-check';
import type { Interface, Schema } from './document.ts';

const DEEPEST = 8;
const WORDS = ['a', '@daily', 'b', 'ci-1', 'w', 'A_B', 'x y', '0:0', 'true', 'user.created', '1', ':', 'ä'];
const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
/** How long a call waits is no input to play with. */
const CALM: Record<string, Arbitrary<unknown>> = { wait_secs: constant(0) };

/** `ids` are those that a text may be. */
export function sampleOf(
  schema: Schema,
  shape: Interface['shape'],
  ids: () => string[],
  depth = 0,
): Arbitrary<unknown> {
  const inner = (one: Schema) => sampleOf(one, shape, ids, depth + 1);
  const { $ref, anyOf, oneOf, allOf, type } = schema;
  if (depth > DEEPEST) return constant(null);
  if ($ref !== undefined) return inner(shape($ref));
  if (schema.enum) return constantFrom(...schema.enum);
  if (schema.const !== undefined) return constant(schema.const);
  const choice = anyOf ?? oneOf;
  if (choice) return oneof(...choice.map(inner));
  if (allOf) return tuple(...allOf.map(inner)).map((parts) => Object.assign({}, ...parts));
  if (type.length === 0) return constantFrom(null, 1, 'x', [], {});
  return oneof(...type.map((name) => ofType(name, schema, ids, inner)));
}

function ofType(
  type: string,
  schema: Schema,
  ids: () => string[],
  inner: (one: Schema) => Arbitrary<unknown>,
): Arbitrary<unknown> {
  const { minimum, maximum = minimum + 10, items } = schema;
  if (type === 'null') return constant(null);
  if (type === 'boolean') return boolean();
  if (type === 'integer' || type === 'number') return constantFrom(minimum, maximum);
  if (type === 'array') return items ? array(inner(items), { maxLength: 3 }) : constant([]);
  if (type === 'object') return objectOf(schema, inner);
  return textOf(schema, ids);
}

function objectOf(
  { properties, required, additionalProperties }: Schema,
  inner: (one: Schema) => Arbitrary<unknown>,
): Arbitrary<unknown> {
  const known = Object.entries(properties).map(
    ([name, schema]) => [name, CALM[name] ?? inner(schema)] as const,
  );
  const own = record(Object.fromEntries(known), { requiredKeys: required });
  if (typeof additionalProperties !== 'object') return own;
  const more = dictionary(constantFrom('a', 'b', 'A_B'), inner(additionalProperties), { maxKeys: 2 });
  return tuple(more, own).map((parts) => Object.assign({}, ...parts));
}

function textOf({ format, pattern }: Schema, ids: () => string[]): Arbitrary<unknown> {
  if (format === 'date-time') return constant('2026-01-01T00:00:00Z');
  const rule = new RegExp(format === 'uuid' ? UUID : (pattern ?? ''), 'u');
  const words = WORDS.filter((word) => rule.test(word));
  const known = nat().map((n) => {
    const fitting = ids().filter((id) => rule.test(id));
    return fitting[n % fitting.length] ?? 'x';
  });
  return words.length === 0 ? known : oneof(known, constantFrom(...words));
}
