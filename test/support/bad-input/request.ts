// Requests to an operation of the document, made so that most of them are wrong somewhere.
import { type Arbitrary, array, boolean, constant, constantFrom, oneof, record, tuple } from 'fast-check';
import type { Interface, Operation, Parameter } from './document.ts';
import type { KnownIds } from './known-ids.ts';
import { MEDIA_TYPES, ODD_BODIES, ODD_IN_URL, spoiled } from './odd.ts';
import { sampleOf } from './sample.ts';

export interface RawRequest {
  method: string;
  /** With the query, as it is sent. */
  path: string;
  headers: Record<string, string>;
  body: string | Buffer | null;
  /** Without saying how long it is. */
  chunked: boolean;
}

const STRANGE_QUERIES = [['odd=1'], ['%zz'], ['&&='], ['=x'], ['[]=1'], ['__proto__=1'], ['%00=%00']];

/** `often` times as often as the others. */
const weighted = <T>(often: number, arbitrary: Arbitrary<T>) => ({ weight: often, arbitrary });

/** Some get past the door: `ids` are known to the server. */
export function requestTo(
  operation: Operation,
  shape: Interface['shape'],
  ids: KnownIds,
): Arbitrary<RawRequest> {
  const { method, path, parameters, bodies } = operation;
  const inPath = parameters.filter((one) => one.in === 'path');
  const inQuery = parameters.filter((one) => one.in === 'query');
  const inHeader = parameters.filter((one) => one.in === 'header');
  const good = ({ name, schema }: Parameter) =>
    sampleOf(schema, shape, () => ids.of(name)).map((value) => encodeURIComponent(String(value)));
  const odd = constantFrom(...ODD_IN_URL);

  const ofPath = (one: Parameter) => oneof(weighted(3, good(one)), weighted(1, odd));
  const ofQuery = (one: Parameter) => pairs(one.name, oneof(weighted(3, good(one)), weighted(1, odd)));
  const ofHeader = (one: Parameter) => oneof(good(one), constantFrom('x', '%00', '1:x'));
  const strange = oneof(weighted(9, constant([])), constantFrom(...STRANGE_QUERIES));

  return record({
    segments: record(Object.fromEntries(inPath.map((one) => [one.name, ofPath(one)]))),
    query: tuple(...inQuery.map(ofQuery), strange).map((found) => found.flat().join('&')),
    headers: record(Object.fromEntries(inHeader.map((one) => [one.name, ofHeader(one)])), {
      requiredKeys: [],
    }),
    body: bodyOf(bodies, shape, ids),
    chunked: boolean(),
  }).map(({ segments, query, headers, body: { type, content }, chunked }) => ({
    method,
    path: `${path.replaceAll(/\{(\w+)\}/g, (_, name) => String(segments[name]))}${query && `?${query}`}`,
    headers: { ...headers, ...(type === undefined ? {} : { 'content-type': type }) },
    body: content,
    chunked,
  }));
}

/** The request as a failure shows it. */
export function requestText(request: RawRequest): string {
  return JSON.stringify({ ...request, body: request.body?.toString().slice(0, 500) });
}

/** Mostly left out, at times repeated. */
function pairs(name: string, value: Arbitrary<string>): Arbitrary<string[]> {
  const several = array(value, { minLength: 2, maxLength: 3 });
  return oneof(weighted(12, constant([])), weighted(4, tuple(value)), weighted(1, several)).map((values) =>
    values.map((one) => `${name}=${one}`),
  );
}

interface MadeBody {
  type: string | undefined;
  content: string | Buffer | null;
}

function bodyOf(bodies: Operation['bodies'], shape: Interface['shape'], ids: KnownIds): Arbitrary<MadeBody> {
  const none = constant({ type: undefined, content: null });
  const odd = record({
    type: constantFrom(...Object.keys(bodies), ...MEDIA_TYPES),
    content: constantFrom(...ODD_BODIES),
  });
  const { 'application/json': schema } = bodies;
  if (!schema) return oneof(weighted(4, none), weighted(1, odd));
  const sample = sampleOf(schema, shape, () => ids.of());
  const text = oneof(weighted(1, sample), weighted(4, spoiled(sample))).map(
    (value) => JSON.stringify(value) ?? '',
  );
  const cut = tuple(text, constantFrom(0.3, 0.9)).map(([whole, part]) => whole.slice(0, whole.length * part));
  const json = oneof(weighted(8, text), weighted(1, cut));
  const declared = constantFrom(...Object.keys(bodies));
  return oneof(
    weighted(8, record({ type: constant('application/json'), content: json })),
    weighted(1, record({ type: constantFrom(...MEDIA_TYPES), content: json })),
    weighted(2, record({ type: declared, content: constantFrom(...ODD_BODIES) })),
    weighted(1, odd),
    weighted(1, none),
  );
}
