// The runs of a workflow that are going on.
import type { Queryable } from '../db/pool.ts';

const LOCK = `
select id from wfg_runs where workflow_id = $1::text and state = 'open' order by id for update`;

/** Locks them until the transaction ends and returns their ids. */
export async function lockOpenRuns(tx: Queryable, workflowId: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(LOCK, [workflowId]);
  return rows.map((row) => row.id);
}
