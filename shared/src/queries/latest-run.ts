// The latest run of a workflow.
import type { Queryable } from '../db/pool.ts';

const LATEST = 'select id from wfg_runs where workflow_id = $1::text order by id desc limit 1';

/** The id of the workflow's latest run; null when it never ran. */
export async function readLatestRun(db: Queryable, workflowId: string): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(LATEST, [workflowId]);
  return rows[0]?.id ?? null;
}
