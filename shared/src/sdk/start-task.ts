// Starts tasks from TypeScript, also inside the caller's own transaction.
import type { z } from 'zod';
import { toStorableJson } from '../contract/json.ts';
import { type Db, createdId } from './created-id.ts';
import type { TaskDefinition } from './define-task.ts';
import { encodeStep, type States } from './step-json.ts';

/** Where a task begins; a step without fields is named without a state. */
export type FirstStep<S extends States> = {
  [K in keyof S & string]: { step: K } & (null extends z.input<S[K]>
    ? { state?: z.input<S[K]> }
    : { state: z.input<S[K]> });
}[keyof S & string];

export interface When {
  /** Seconds from now, by the database's clock. */
  afterSecs?: number;
  /** Not before a time. */
  at?: Date;
}

const START = `
select wfg_task($1::json, case when $2::float8 is null then $3::timestamptz
  else wfg_now() + make_interval(secs => $2) end) as id`;

/**
 * Starts a task at a step, at once unless told otherwise; returns its id. It is there when the transaction commits.
 *
 * @throws {StepError} when the state does not fit the step.
 */
export async function startTask<S extends States>(
  db: Db,
  task: TaskDefinition<S>,
  first: FirstStep<S> & When,
): Promise<string> {
  const { step, state, afterSecs, at } = first;
  const payload = encodeStep(task.name, task.states, step, state ?? null);
  return createdId(db, START, [toStorableJson(payload), afterSecs ?? null, at ?? null]);
}
