// The states of a job and every move between them. The same table, as SQL, is in the WHERE clauses of the queries
// and the CHECKs of migration 0001 (a test watches real rows move); deploy/states.md is drawn from it.
import type { EventStatus } from '../contract/event.ts';
import { JobState } from '../contract/job.ts';
import type { GraphStatus } from '../contract/workflow.ts';

/** Who may move a job from one state to another. `new` is a row being inserted. */
export const MOVES: readonly { from: JobState | 'new'; to: JobState; by: string }[] = [
  { from: 'new', to: 'blocked', by: 'submit' },
  { from: 'new', to: 'pending', by: 'submit' },
  { from: 'new', to: 'failed', by: 'submit: a step that cannot be decoded; rerun: taken over' },
  { from: 'new', to: 'completed', by: 'rerun: taken over' },
  { from: 'new', to: 'skipped', by: 'rerun: taken over' },
  { from: 'new', to: 'cancelled', by: 'rerun: taken over' },
  { from: 'blocked', to: 'pending', by: 'scheduler: dependencies met' },
  { from: 'blocked', to: 'skipped', by: 'scheduler: upstream not successful' },
  { from: 'blocked', to: 'cancelled', by: 'cancel' },
  { from: 'pending', to: 'active', by: 'claim' },
  { from: 'pending', to: 'cancelled', by: 'cancel' },
  { from: 'pending', to: 'failed', by: 'expired, or parked' },
  { from: 'active', to: 'completed', by: 'finish' },
  { from: 'active', to: 'failed', by: 'finish, or reaper: budget spent' },
  { from: 'active', to: 'cancelled', by: 'cancel acknowledged, or lease lost after the request' },
  { from: 'active', to: 'pending', by: 'retry, hand-back, next step, or lost lease with budget' },
  { from: 'failed', to: 'pending', by: 'requeue, resume' },
  { from: 'failed', to: 'blocked', by: 'retry' },
  { from: 'cancelled', to: 'blocked', by: 'retry' },
  { from: 'skipped', to: 'blocked', by: 'retry, of it or of what it needs' },
];

const ENDED: ReadonlySet<JobState> = new Set(['completed', 'failed', 'skipped', 'cancelled']);

/** Whether nothing more happens to a job in this state by itself. */
export function isEnded(state: JobState): boolean {
  return ENDED.has(state);
}

const GRAPH_STATUS: Record<JobState, GraphStatus> = {
  blocked: 'queued',
  pending: 'queued',
  active: 'running',
  completed: 'success',
  failed: 'failure',
  skipped: 'skipped',
  cancelled: 'cancelled',
};

/** workflow-graph's word for a state. */
export function graphStatus(state: JobState): GraphStatus {
  return GRAPH_STATUS[state];
}

/** The states that workflow-graph's word stands for; none for a word it does not have. */
export function statesOf(status: string): JobState[] {
  return JobState.options.filter((state) => GRAPH_STATUS[state] === status);
}

const EVENT_STATUS: Record<JobState, EventStatus> = {
  blocked: 'pending',
  pending: 'pending',
  active: 'processing',
  completed: 'completed',
  failed: 'dead_lettered',
  skipped: 'dead_lettered',
  cancelled: 'cancelled',
};

/** FlowForge's word for the state of an event: one that waits for another try has failed. */
export function eventStatus({ state, tries }: { state: JobState; tries: number }): EventStatus {
  return state === 'pending' && tries > 0 ? 'failed' : EVENT_STATUS[state];
}
