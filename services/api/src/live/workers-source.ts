// The topic `workers`: all that are known, then which come, change and go.
import type { Worker } from '@wfg/shared/contract/worker';
import { listWorkers } from '@wfg/shared/queries/worker-list';
import { jitter } from '@wfg/shared/rules/pause';
import type { FeedSettings } from './feeds.ts';
import type { Frame } from './shared-frame.ts';
import type { StateSource } from './state-feed.ts';

/** Beats ring no bell. */
const POLL_MS = 2_000;
const REST_MS = 500;
/** Beats come every 10 s, requests of those that work over HTTP as often as they like: no more of them are told. */
const BEATS_TOLD_MS = 5_000;

/** Of all workers, native and foreign. */
export function workersSource({ pool, pollMs }: FeedSettings): StateSource<Worker[]> {
  let told = new Map<string, Worker>();
  return {
    async read() {
      const workers = (await listWorkers(pool)).map((worker) => withToldBeat(worker, told));
      told = new Map(workers.map((worker) => [worker.worker_id, worker]));
      return workers;
    },
    tell: tellWorkers,
    concerns: ({ all, isWork }) => all || isWork,
    pollMs: () => Math.min(pollMs(), jitter(POLL_MS)),
    restMs: (tookMs) => Math.max(tookMs, REST_MS),
  };
}

function withToldBeat(worker: Worker, told: ReadonlyMap<string, Worker>): Worker {
  const last = told.get(worker.worker_id)?.last_heartbeat_ms ?? 0;
  const isNews = worker.last_heartbeat_ms - last >= BEATS_TOLD_MS;
  return isNews ? worker : { ...worker, last_heartbeat_ms: last };
}

/** Those that are gone, then those that are new or have changed. */
export function tellWorkers(before: readonly Worker[] | null, now: Worker[]): Frame[] {
  if (before === null) return [{ op: 'snapshot', workers: now }];
  const known = new Map(before.map((worker) => [worker.worker_id, JSON.stringify(worker)]));
  const listed = new Set(now.map(({ worker_id }) => worker_id));
  const changed = now.filter((worker) => known.get(worker.worker_id) !== JSON.stringify(worker));
  return [
    ...[...known.keys()].flatMap((worker_id) =>
      listed.has(worker_id) ? [] : [{ op: 'gone' as const, worker_id }],
    ),
    ...changed.map((worker) => ({ op: 'worker' as const, worker })),
  ];
}
