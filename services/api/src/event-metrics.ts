// FlowForge's numbers of events.
import type { EventMetrics } from '@wfg/shared/contract/stats';
import type { Queryable } from '@wfg/shared/db/pool';
import { countEvents } from '@wfg/shared/queries/counts';

/** Of all events, live and in history. */
export async function eventMetrics(db: Queryable): Promise<EventMetrics> {
  const { statuses, busy_ms, total, as_of } = await countEvents(db);
  const average = statuses.completed === 0 ? 0 : busy_ms / statuses.completed;
  return {
    total_workflows: total,
    pending: statuses.pending,
    processing: statuses.processing,
    completed: statuses.completed,
    failed: statuses.failed,
    dead_lettered: statuses.dead_lettered,
    cancelled: statuses.cancelled,
    average_processing_time_ms: Math.round(average * 100) / 100,
    as_of: as_of.toISOString(),
  };
}
