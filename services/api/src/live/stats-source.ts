// The topic `stats`: how much there is to do, once a second while it changes.
import type { Stats } from '@wfg/shared/contract/stats';
import { countJobs } from '@wfg/shared/queries/counts';
import { readGauges } from '@wfg/shared/queries/gauges';
import { eventMetrics } from '../event-metrics.ts';
import type { FeedSettings } from './feeds.ts';
import type { Frame } from './shared-frame.ts';
import type { StateSource } from './state-feed.ts';

const EVERY_MS = 1_000;

/** Of the whole database. */
export function statsSource({ pool }: FeedSettings): StateSource<Stats> {
  return {
    async read() {
      const [events, counted, { open_runs, workers }] = await Promise.all([
        eventMetrics(pool),
        countJobs(pool),
        readGauges(pool),
      ]);
      const jobs: Stats['jobs'] = {};
      for (const { state, count } of counted) jobs[state] = (jobs[state] ?? 0) + count;
      return { ...events, jobs, open_runs, workers };
    },
    tell: tellStats,
    // As often as it is told it is read.
    concerns: () => false,
    pollMs: () => 0,
    restMs: () => EVERY_MS,
  };
}

/** Nothing, if the numbers are what they were, however late it is. */
export function tellStats(before: Stats | null, now: Stats): Frame[] {
  if (before === null) return [{ op: 'snapshot', stats: now }];
  const { as_of } = now;
  return JSON.stringify({ ...before, as_of }) === JSON.stringify(now) ? [] : [{ op: 'stats', stats: now }];
}
