// Enqueues events from TypeScript, also inside the caller's own transaction.
import { toStorableJson } from '../contract/json.ts';
import type { z } from 'zod';
import { type Db, createdId } from './created-id.ts';
import type { EventDefinition } from './define-event.ts';
import { encodePayload } from './event-payload.ts';
import { toJson } from './json-value.ts';

export interface EnqueueOptions {
  /** Not before this time. */
  at?: Date;
  /** Tries in all, from 1 to 100; 3. */
  maxAttempts?: number;
  /** From -100 to 100, larger first; 0. */
  priority?: number;
  /** The same key with the same rest, within 7 days, gives the id of the event that is there already. */
  idempotencyKey?: string;
}

const ENQUEUE = `
select wfg_enqueue($1::text, $2::json, max_attempts => $3::int, run_at => $4::timestamptz, priority => $5::int,
  idempotency_key => $6::text) as id`;

/**
 * Enqueues an event for the handler of a definition, or of a type by its name; returns its id. It is there when the
 * transaction commits.
 *
 * @throws {PayloadError} when the payload does not fit the definition.
 * @throws {TypeError} when JSON cannot hold the payload.
 */
export async function enqueue<S extends z.ZodType>(
  db: Db,
  event: EventDefinition<S> | string,
  payload: z.input<S>,
  { at, maxAttempts, priority, idempotencyKey }: EnqueueOptions = {},
): Promise<string> {
  const [type, value] =
    typeof event === 'string' ? [event, toJson(payload)] : [event.type, encodePayload(event, payload)];
  return createdId(db, ENQUEUE, [
    type,
    toStorableJson(value),
    maxAttempts ?? null,
    at ?? null,
    priority ?? null,
    idempotencyKey ?? null,
  ]);
}
