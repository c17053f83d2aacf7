// Starts what a schedule starts: always a new run, or a new event.
import { Definition } from '../contract/definition.ts';
import { WfgError } from '../contract/problem.ts';
import type { Queryable } from '../db/pool.ts';
import { enqueueEvent } from './enqueue.ts';
import type { StoredTarget } from './schedule-row.ts';
import { submitRun, type Submitted } from './submit.ts';

const DEFINITION = 'select definition from wfg_workflows where id = $1::text';

/** @throws {WfgError} conflict, when there is no such workflow any more. */
export async function startScheduled(db: Queryable, target: StoredTarget): Promise<Submitted> {
  if (target.workflow_id === null) return store(db, target);
  const { rows } = await db.query<{ definition: unknown }>(DEFINITION, [target.workflow_id]);
  const [stored] = rows;
  if (!stored) {
    throw new WfgError(
      'conflict',
      `there is no workflow ${target.workflow_id}: store it, or remove the schedule`,
    );
  }
  return submitRun(db, target.workflow_id, Definition.parse(stored.definition), target.env ?? {});
}

async function store(db: Queryable, target: StoredTarget): Promise<Submitted> {
  const { workflow_type, payload, max_attempts, priority } = target;
  if (workflow_type === null || max_attempts === null || priority === null) {
    throw new Error('the schedule has nothing to start');
  }
  const defaults = { run_at: null, expires_in_secs: null, backoff: null, timeout_secs: null };
  const event = { ...defaults, workflow_type, payload, max_attempts, priority };
  const { run_id, lane } = await enqueueEvent(db, event);
  return { run_id, lanes: { [lane]: 1 } };
}
