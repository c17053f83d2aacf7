// The payload of an event, checked where its definition says what it is.
import { check } from '../rules/issues.ts';
import type { EventDefinition } from './define-event.ts';
import { findings, toJson, withBigints } from './json-value.ts';

/** A payload that does not fit: another try would not help. */
export class PayloadError extends Error {}

/**
 * As the handler gets it, from `parseJson`: what the schema makes of it, or the thing itself where there is none.
 *
 * @throws {PayloadError} when it does not fit.
 */
export function decodePayload(definition: EventDefinition, payload: unknown): unknown {
  return definition.payload === null ? payload : parsed(definition, withBigints(payload));
}

/**
 * As it is stored.
 *
 * @throws {PayloadError} when it does not fit.
 * @throws {TypeError} when JSON cannot hold it.
 */
export function encodePayload(definition: EventDefinition, payload: unknown): unknown {
  parsed(definition, payload);
  return toJson(payload);
}

function parsed({ type, payload: schema }: EventDefinition, payload: unknown): unknown {
  if (schema === null) return payload;
  const { data, issues } = check(schema, payload);
  if (!issues) return data;
  throw new PayloadError(`the payload does not fit ${type}: ${findings(issues)}`);
}
