// Gives a dead letter a new budget; a task goes on at the step it stopped at.
import type { Queryable } from '../db/pool.ts';

const REQUEUE = `select wfg_revive($1::uuid)::text as lane`;

/**
 * Makes a standalone job that failed pending again, with all its tries; returns its lane. Null: it is none, or a task
 * whose step cannot be decoded.
 */
export async function requeueJob(db: Queryable, runId: string): Promise<string | null> {
  const { rows } = await db.query<{ lane: string | null }>(REQUEUE, [runId]);
  return rows[0]?.lane ?? null;
}
