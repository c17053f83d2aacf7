// The topic `runs`: the newest runs that fit a filter, then which come, change and go.
import type { Subscribe } from '@wfg/shared/contract/live';
import type { RunSummary } from '@wfg/shared/contract/run';
import { RUNS_LISTED } from '@wfg/shared/contract/run-filter';
import { listRuns } from '@wfg/shared/queries/run-list';
import type { FeedSettings } from './feeds.ts';
import type { Frame } from './shared-frame.ts';
import type { StateSource } from './state-feed.ts';

/** Each run is told four times a second at most. */
const REST_MS = 250;

export type RunsFilter = Omit<Extract<Subscribe, { topic: 'runs' }>, 'id'>;

/** Of `limit` runs at most, 50 unless it is given. */
export function runsSource(
  {
    workflow_id: workflowId,
    limit = RUNS_LISTED,
    status,
    kind,
    workflow_type,
    label,
    since,
    until,
    text,
  }: RunsFilter,
  { pool, pollMs }: FeedSettings,
): StateSource<RunSummary[]> {
  const filter = { workflowId, status, kind, workflow_type, label, since, until, text, limit };
  return {
    read: async () => (await listRuns(pool, filter)).items,
    tell: tellRuns,
    concerns: ({ all, isWork }) => all || isWork,
    pollMs,
    restMs: (tookMs) => Math.max(tookMs, REST_MS),
  };
}

/** Those that left the list, then those that are new or have changed, the oldest first. */
export function tellRuns(before: readonly RunSummary[] | null, now: RunSummary[]): Frame[] {
  if (before === null) return [{ op: 'snapshot', runs: now }];
  const known = new Map(before.map((run) => [run.run_id, run]));
  const listed = new Set(now.map(({ run_id }) => run_id));
  const gone = before.filter(({ run_id }) => !listed.has(run_id));
  const changed = now.filter((run) => hasChanged(known.get(run.run_id), run));
  return [
    ...gone.map(({ run_id }) => ({ op: 'gone' as const, run_id })),
    ...changed.toReversed().map((run) => ({ op: 'run' as const, run })),
  ];
}

/** By its rev, and by what a scheduler or a cancel may write beside it; its payload stays as it is. */
function hasChanged(before: RunSummary | undefined, now: RunSummary): boolean {
  if (!before || before.rev !== now.rev) return true;
  return (['status', 'number', 'error', 'started_at', 'finished_at'] as const).some(
    (key) => before[key] !== now[key],
  );
}
