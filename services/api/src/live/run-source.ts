// The topic `run`: a snapshot, then what changes.
import { readTracedRun, type TracedRun } from '@wfg/shared/queries/run';
import type { FeedSettings } from './feeds.ts';
import { eventsBetween } from './run-events.ts';
import type { StateSource } from './state-feed.ts';

const LONGEST_REST_MS = 1_000;

/** Of a run, or of a standalone job. */
export function runSource(runId: string, { pool, pollMs }: FeedSettings): StateSource<TracedRun> {
  return {
    read: () => readTracedRun(pool, runId),
    tell(before, now) {
      const events = before && eventsBetween(before, now);
      if (events === null) return [{ op: 'snapshot', run: now.run }];
      return events.map((event) => ({ op: 'event', event }));
    },
    concerns: ({ all, runs }) => all || runs.has(runId),
    pollMs: ({ run }) => (run.finished_at === null ? pollMs() : Number.POSITIVE_INFINITY),
    // A run of 10,000 jobs takes a third of a second to read: its bells are answered less often than they ring.
    restMs: (tookMs) => Math.min(tookMs, LONGEST_REST_MS),
    missing: `there is no run ${runId}`,
  };
}
