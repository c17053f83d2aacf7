// What becomes of standalone events, in FlowForge's words, as lines of a process's log.
import type { JobState } from '@wfg/shared/contract/job';
import type { Logger } from 'pino';

interface EventTry {
  run_id: string;
  position: number;
  workflow_type: string;
  tries: number;
  max_attempts: number;
}

export function tellBegin(log: Logger, event: EventTry): void {
  if (event.position === 0) log.info(fieldsOf(event), 'Processing workflow');
}

export function tellSuccess(log: Logger, event: EventTry): void {
  if (event.position === 0) log.info(fieldsOf(event), 'Workflow processing succeeded');
}

/** `state` is the one the event was left in. */
export function tellFailure(log: Logger, event: EventTry, reason: string, state: JobState | null): void {
  if (event.position > 0 || state === 'cancelled') return;
  const what =
    state === 'failed'
      ? 'Workflow exhausted retries – moving to dead_lettered'
      : 'Workflow processing failed – will retry';
  log.warn({ ...fieldsOf(event), reason }, what);
}

function fieldsOf({ run_id, workflow_type, tries, max_attempts }: EventTry) {
  return { workflow_id: run_id, workflow_type, attempt: tries, max_attempts };
}
