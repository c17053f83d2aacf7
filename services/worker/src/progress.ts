// What becomes of standalone events, in FlowForge's words, and of tasks, as lines of a process's log.
import type { JobState } from '@wfg/shared/contract/job';
import type { Logger } from 'pino';

interface Try {
  run_id: string;
  position: number;
  kind: 'event' | 'task';
  workflow_type: string;
  /** Of a task. */
  step: string | null;
  tries: number;
  max_attempts: number;
}

export function tellBegin(log: Logger, one: Try): void {
  if (one.position === 0)
    log.info(fieldsOf(one), one.kind === 'task' ? 'Running step' : 'Processing workflow');
}

/** `state` is the one the job was left in: pending is a task that goes on. */
export function tellSuccess(log: Logger, one: Try, state: JobState | null): void {
  if (one.position > 0) return;
  const ofTask = state === 'pending' ? 'Step completed' : 'Task completed';
  log.info(fieldsOf(one), one.kind === 'task' ? ofTask : 'Workflow processing succeeded');
}

/** `state` is the one the job was left in. */
export function tellFailure(log: Logger, one: Try, reason: string, state: JobState | null): void {
  if (one.position > 0 || state === 'cancelled') return;
  const [retried, given] =
    one.kind === 'task'
      ? ['Step failed – will retry', 'Step failed – task stopped until its error is cleared']
      : ['Workflow processing failed – will retry', 'Workflow exhausted retries – moving to dead_lettered'];
  log.warn({ ...fieldsOf(one), reason }, state === 'failed' ? given : retried);
}

function fieldsOf({ kind, run_id, workflow_type, step, tries, max_attempts }: Try) {
  const counts = { attempt: tries, max_attempts };
  return kind === 'task'
    ? { task_id: run_id, task: workflow_type, step, ...counts }
    : { workflow_id: run_id, workflow_type, ...counts };
}
