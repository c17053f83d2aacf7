// Standalone events in a test database: enqueued, watched and read back.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobState, Outcome } from '@wfg/shared/contract/job';
import { enqueueEvent, type NewEvent } from '@wfg/shared/queries/enqueue';
import type { Pool } from 'pg';
import { inject } from 'vitest';
import { waitFor } from './wait-for.ts';
import { ring } from './worker.ts';

interface EventView {
  state: JobState;
  attempt: number;
  tries: number;
  losses: number;
  outcome: Outcome | null;
  error: string | null;
  outputs: Record<string, string> | null;
}

async function insert(
  pool: Pool,
  workflow_type: string,
  payload: unknown,
  options: Partial<NewEvent> = {},
): Promise<string> {
  const { run_id } = await enqueueEvent(pool, {
    workflow_type,
    payload,
    max_attempts: 3,
    run_at: null,
    expires_in_secs: null,
    priority: 0,
    backoff: 'None',
    timeout_secs: null,
    ...options,
  });
  return run_id;
}

/** Enqueues an event that is retried at once, and rings for it. */
export async function enqueue(
  pool: Pool,
  type: string,
  payload: unknown = {},
  options: Partial<NewEvent> = {},
): Promise<string> {
  const id = await insert(pool, type, payload, options);
  await ring(pool);
  return id;
}

/** Enqueues many with a single ring, the payload of each by its number. */
export async function enqueueAll(
  pool: Pool,
  type: string,
  count: number,
  payloadOf: (index: number) => unknown,
): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) ids.push(await insert(pool, type, payloadOf(index)));
  await ring(pool);
  return ids;
}

/** An event, live or in history, once it is `ok`. */
export async function eventWhen(
  pool: Pool,
  id: string,
  ok: (event: EventView) => boolean,
  limitMs?: number,
): Promise<EventView> {
  const probe = async () => {
    const columns = 'state, attempt, tries, losses, outcome, error, outputs';
    const { rows } = await pool.query<EventView>(
      `select ${columns} from wfg_jobs where run_id = $1 and position = 0
       union all select ${columns} from wfg_history where run_id = $1`,
      [id],
    );
    const [row] = rows;
    if (!row || !ok(row)) throw new Error(JSON.stringify(row));
    return row;
  };
  return waitFor(`event ${id}: ${String(ok)}`, probe, limitMs);
}

export const isActive = ({ state }: EventView) => state === 'active';
export const isCompleted = ({ state }: EventView) => state === 'completed';
export const isFailed = ({ state }: EventView) => state === 'failed';
export const isCancelled = ({ state }: EventView) => state === 'cancelled';

interface AttemptView {
  try: number;
  outcome: Outcome;
  error: string | null;
}

const lastIn = (table: string) =>
  `select attempt, tries, outcome, error from ${table} j where run_id = $1 and outcome is not null
   and not exists (select from wfg_attempts a where a.run_id = j.run_id and a.attempt = j.attempt)`;

/** Its attempts that are over, the first one first. */
export async function attemptsOf(pool: Pool, id: string): Promise<AttemptView[]> {
  const { rows } = await pool.query<AttemptView>(
    `select try, outcome, error from (
       select attempt, try, outcome, error from wfg_attempts where run_id = $1
       union all ${lastIn('wfg_jobs')} union all ${lastIn('wfg_history')}
     ) a order by attempt`,
    [id],
  );
  return rows;
}

/** What an attempt printed to a stream. */
export async function printed(pool: Pool, id: string, stream = 'stdout', attempt = 0): Promise<string> {
  const { rows } = await pool.query<{ text: string }>(
    `select coalesce(string_agg(data, '' order by sequence), '') as text from wfg_logs
     where run_id = $1 and stream = $2 and attempt = $3`,
    [id, stream, attempt],
  );
  return rows[0]?.text ?? '';
}

/** A file in which handlers write what happens to them. */
export interface Trail {
  path: string;
  /** Its lines; those of one attempt if that is named, without its name. */
  lines: (id?: string, attempt?: number) => string[];
}

export function newTrail(): Trail {
  const path = join(inject('runFolder'), `trail-${randomUUID()}`);
  return {
    path,
    lines(id, attempt = 0) {
      const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
      if (id === undefined) return lines;
      const name = ` ${id}.${attempt}`;
      return lines.filter((line) => line.endsWith(name)).map((line) => line.slice(0, -name.length));
    },
  };
}
