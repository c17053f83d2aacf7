// Starts tasks, and lists what has stopped.
import { toStorableJson } from '../contract/json.ts';
import { WfgError } from '../contract/problem.ts';
import type { DeadLetter } from '../contract/task.ts';
import type { Queryable } from '../db/pool.ts';
import { errorCode } from '../db/sqlstate.ts';
import { isoTime } from './job-row.ts';

const START = `select wfg_task($1::json, $2::timestamptz) as id`;

/**
 * Starts a task at a step and rings for it; returns its run's id. The time null is now.
 *
 * @throws {WfgError} invalid_body when it is no step, or a step that its task does not have.
 */
export async function startTask(db: Queryable, step: unknown, wakeupAt: Date | null): Promise<string> {
  try {
    const { rows } = await db.query<{ id: string }>(START, [toStorableJson(step), wakeupAt]);
    const [row] = rows;
    if (!row) throw new Error('wfg_task returned no row');
    return row.id;
  } catch (error) {
    if (errorCode(error) !== 'WF001' || !(error instanceof Error)) throw error;
    throw new WfgError('invalid_body', error.message, [{ path: 'step', message: error.message }]);
  }
}

// In the order of the index wfg_jobs_dead.
const DEAD = `
select run_id, kind, workflow_type, step, error, tries, max_attempts, created_at, finished_at as failed_at
from wfg_jobs
where position = 0 and state = 'failed' and ($1::uuid is null or run_id < $1) and ($2::text is null or workflow_type = $2)
order by run_id desc
limit $3::int`;

type DeadRow = Omit<DeadLetter, 'created_at' | 'failed_at'> & { created_at: Date; failed_at: Date };

/** Standalone jobs that failed, the newest first, from behind the run `before`. */
export async function listDead(
  db: Queryable,
  {
    before,
    workflow_type,
    limit,
  }: { before?: string | undefined; workflow_type?: string | undefined; limit: number },
): Promise<DeadLetter[]> {
  const { rows } = await db.query<DeadRow>(DEAD, [before, workflow_type, limit]);
  return rows.map((row) => ({
    ...row,
    created_at: isoTime(row.created_at),
    failed_at: isoTime(row.failed_at),
  }));
}
