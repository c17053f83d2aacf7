// Gives what failed a new budget: a dead letter, where a task goes on at the step it stopped at, or a job of a run that
// goes on.
import { DatabaseError } from 'pg';
import { WfgError } from '../contract/problem.ts';
import type { Queryable } from '../db/pool.ts';
import { errorCode } from '../db/sqlstate.ts';
import { joinTx } from '../db/tx.ts';

const REQUEUE = `select wfg_revive($1::uuid)::text as lane`;

/**
 * Makes a standalone job that failed pending again, with all its tries; returns its lane. Null: it is none, or a task
 * whose step cannot be decoded.
 */
export async function requeueJob(db: Queryable, runId: string): Promise<string | null> {
  const { rows } = await db.query<{ lane: string | null }>(REQUEUE, [runId]);
  return rows[0]?.lane ?? null;
}

const RETRY = `select wfg_requeue($1::uuid, $2::text)`;

/**
 * Runs a job again, of a run that goes on or standalone, and rings for it.
 *
 * @throws {WfgError} not_found, or conflict when its state, or that of its run, does not allow it.
 */
export async function retryJob(db: Queryable, runId: string, jobId: string): Promise<void> {
  try {
    await joinTx(db, (tx) => tx.query(RETRY, [runId, jobId]));
  } catch (error) {
    const code = errorCode(error);
    if (!(error instanceof DatabaseError) || (code !== 'WF002' && code !== 'WF003')) throw error;
    throw new WfgError(code === 'WF002' ? 'not_found' : 'conflict', `${error.message}: ${error.hint}`);
  }
}
