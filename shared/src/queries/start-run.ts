// Starts a run of a stored definition, unless one is going on.
import { Definition } from '../contract/definition.ts';
import type { Env } from '../contract/workflow.ts';
import type { Queryable } from '../db/pool.ts';
import { submitRun, type Submitted } from './submit.ts';

// Two starts of one workflow take turns: the second then sees the run of the first.
const LOCK = 'select definition from wfg_workflows where id = $1::text for no key update';

// One all of whose jobs have ended is over, though it may still have to be closed.
const GOING_ON = `
select r.id from wfg_runs r
where r.workflow_id = $1::text and r.state = 'open' and r.cancel_requested_at is null
  and exists (select from wfg_jobs j where j.run_id = r.id and j.state in ('blocked', 'pending', 'active'))
order by r.id desc limit 1`;

/**
 * The run that is going on, or a new one; one that is being cancelled, or has nothing left to do, does not count. Null
 * when there is no such workflow. Needs a transaction of its own.
 */
export async function startRun(tx: Queryable, workflowId: string, env: Env): Promise<Submitted | null> {
  const locked = await tx.query<{ definition: unknown }>(LOCK, [workflowId]);
  const stored = locked.rows[0];
  if (!stored) return null;
  const { rows } = await tx.query<{ id: string }>(GOING_ON, [workflowId]);
  if (rows[0]) return { run_id: rows[0].id, lanes: {} };
  return submitRun(tx, workflowId, Definition.parse(stored.definition), env);
}
