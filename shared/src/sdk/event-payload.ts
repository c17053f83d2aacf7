// The payload of an event, checked where its definition says what it is.
import type { EventDefinition } from './define-event.ts';
import { findings, fromJson, misfit, toJson } from './json-value.ts';

/** A payload that does not fit: another try would not help. */
export class PayloadError extends Error {}

/**
 * As the handler gets it, from `parseJson`: what the schema makes of it, or the thing itself where there is none.
 *
 * @throws {PayloadError} when it does not fit.
 */
export function decodePayload({ type, payload: schema }: EventDefinition, payload: unknown): unknown {
  if (schema === null) return payload;
  const { data, issues } = fromJson(schema, payload);
  if (!issues) return data;
  throw new PayloadError(`the payload does not fit ${type}: ${findings(issues)}`);
}

/**
 * As it is stored.
 *
 * @throws {PayloadError} when it does not fit, or not any more when it comes back.
 * @throws {TypeError} when JSON cannot hold it.
 */
export function encodePayload({ type, payload: schema }: EventDefinition, payload: unknown): unknown {
  const json = toJson(payload);
  const fault = schema === null ? null : misfit(schema, payload, json);
  if (fault !== null) throw new PayloadError(`the payload does not fit ${type}: ${fault}`);
  return json;
}
