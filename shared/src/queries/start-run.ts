// Starts a run of a stored definition, unless one is going on.
import { Definition } from '../contract/definition.ts';
import type { Env } from '../contract/workflow.ts';
import type { Queryable } from '../db/pool.ts';
import { submitRun, type Submitted } from './submit.ts';

// Two starts of one workflow take turns: the second then sees the run of the first.
const LOCK = 'select definition from wfg_workflows where id = $1::text for no key update';

const GOING_ON = `
select id from wfg_runs
where workflow_id = $1::text and state = 'open' and cancel_requested_at is null
order by id desc limit 1`;

/**
 * The run that is going on, or a new one; one that is being cancelled does not count. Null when there is no such
 * workflow. Needs a transaction of its own.
 */
export async function startRun(tx: Queryable, workflowId: string, env: Env): Promise<Submitted | null> {
  const locked = await tx.query<{ definition: unknown }>(LOCK, [workflowId]);
  const stored = locked.rows[0];
  if (!stored) return null;
  const { rows } = await tx.query<{ id: string }>(GOING_ON, [workflowId]);
  if (rows[0]) return { run_id: rows[0].id, lanes: {} };
  return submitRun(tx, workflowId, Definition.parse(stored.definition), env);
}
