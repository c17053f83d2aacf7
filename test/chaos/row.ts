// One row of the matrix: a cluster works on a load, a fault strikes and ends, and all must be well soon after.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createPool } from '@wfg/shared/db/pool';
import { pino } from 'pino';
import { inject } from 'vitest';
import { startCluster } from '../support/cluster.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { watchRuns } from '../support/watch-runs.ts';
import { measureCapacity, openRuns } from './capacity.ts';
import { check } from './checks/check.ts';
import { collect, runningCommands } from './collect.ts';
import { followRuns, unfinished } from './follow.ts';
import { type Fault, LEASE_SECS, type Scene } from './faults/fault.ts';
import { attemptOf, type History } from './history.ts';
import { keepLogs } from './keep-logs.ts';
import type { Load } from './loads/load.ts';
import { type Accepted, offer } from './offer.ts';
import type { OwnPostgres } from '../support/own-postgres.ts';
import { planOf } from './plan.ts';
import type { Row } from './table.ts';
import { watchLeases } from './watch-leases.ts';

const MODULE = fileURLToPath(new URL('module.ts', import.meta.url));
/** The load is offered for so long before the fault and after it; longer where it is so slow that less than this came of it. */
const AROUND_MS = 2_000;
const LEAST_JOBS = 20;
/** Until that much has come. */
const SLOWEST_MS = 60_000;
const RECOVER_MS = (LEASE_SECS + 10) * 1_000;
/** To tell what is late from what is lost. */
const PATIENCE_MS = 20_000;
const GONE_MS = 8_000;
const TOLD_MS = 15_000;
const WATCH_MS = 100;

export interface Outcome {
  row: Row;
  /** What the checks found, by their names. */
  faults: Record<string, string[]>;
}

/** Runs it on a database that is made anew; when it fails, what is known of it is kept in a folder that is told. */
export async function runRow(postgres: OwnPostgres, fault: Fault, load: Load): Promise<Outcome> {
  await postgres.renew();
  await using stack = new AsyncDisposableStack();
  const link = stack.use(await TcpProxy.start(postgres.url));
  const log = pino({ level: 'silent' });
  const pool = createPool({ url: postgres.url, name: 'test', max: 3, idleTimeoutMs: 0, log });
  stack.defer(() => pool.end());
  const cluster = stack.use(
    await startCluster(
      { url: fault.by === 'everything' ? link.url : postgres.url },
      {
        counts: { scheduler: 2, worker: 2 },
        env: {
          DATABASE_DIRECT_URL: fault.by ? link.url : postgres.url,
          LEASE_TTL_SECS: String(LEASE_SECS),
          KILL_GRACE_SECS: '1',
          WORKER_CONCURRENCY: '4',
          WFG_MODULES: MODULE,
        },
      },
    ),
  );
  try {
    const { history, ...outcome } = await observe({ cluster, postgres, pool, link }, fault, load);
    if (Object.values(outcome.faults).some((found) => found.length > 0) || outcome.row.share < 1)
      console.error(`its logs are in ${await keepLogs(cluster, { ...outcome, history })}`);
    return outcome;
  } catch (error) {
    console.error(`its logs are in ${await keepLogs(cluster, {})}`);
    throw error;
  }
}

async function observe(scene: Scene, fault: Fault, load: Load): Promise<Outcome & { history: History }> {
  const { cluster, pool } = scene;
  const trail = join(inject('runFolder'), `trail-${randomUUID()}`);
  const offering = { load, wfg: cluster.wfg, trail };
  await using leases = watchLeases(pool, WATCH_MS);
  await using runs = watchRuns(pool, WATCH_MS);
  using following = followRuns(cluster.url);
  const burst = await measureCapacity(pool, { ...offering, first: 0, count: load.burst });
  const perSec = burst.perSec / 2;

  let accepted = 0;
  const jobs = () => accepted * jobsOf(load);
  const stop = new AbortController();
  const offered = offer({
    ...offering,
    first: load.burst,
    perSec,
    onAccepted(run) {
      accepted++;
      following.follow(run);
    },
    until: stop.signal,
  });
  // Its failure is told when it is awaited.
  offered.catch(() => undefined);
  await sleep(AROUND_MS);
  // Half of it goes on while the fault strikes, or waits.
  await waitFor('something to be offered', () => jobs() >= LEAST_JOBS / 2, SLOWEST_MS);
  await fault.strike(scene);
  const over = Date.now();
  await sleep(AROUND_MS);
  await waitFor('enough to be offered', () => jobs() >= LEAST_JOBS, SLOWEST_MS);
  const offeredUntil = Date.now();
  stop.abort();
  const items = await offered;
  const limit = inTime(over, offeredUntil) + PATIENCE_MS - Date.now();
  // What did not end is told by the checks.
  await waitFor('all to end', async () => (await openRuns(pool)) === 0, limit).catch(() => undefined);
  const gone = () => runningCommands(trail).length === 0;
  await waitFor('all commands to be gone', gone, GONE_MS).catch(() => undefined);

  const followed = () => unfinished(following.told).length === 0;
  await waitFor('all followers to be told', followed, TOLD_MS).catch(() => undefined);

  const all = [...burst.accepted, ...items];
  const seen = { leases: leases.seen(), seenRuns: runs.seen(), told: following.told };
  const history = await collect(pool, { items: all, ...seen }, trail);
  const { faults, lost, doubled, lostLines } = check(history);
  const takenBack = history.attempts.filter(({ outcome }) => outcome === 'lost');
  const inVain = fault.loses
    ? []
    : takenBack.map((row) => `${attemptOf(row)}: was lost, and its worker lived`);
  const ends = endsOf(history);
  const endOf = ({ run }: Accepted) => ends.get(run) ?? Number.POSITIVE_INFINITY;
  const before = items.filter(({ at }) => at <= over).map((item) => endOf(item) - over);
  const row = {
    fault: fault.name,
    load: load.name,
    offered: items.length,
    perSec,
    share: items.filter((item) => endOf(item) <= inTime(over, item.at)).length / items.length,
    lost,
    doubled,
    lostLines,
    lostAttempts: takenBack.length,
    recoverSecs: Math.max(0, ...before) / 1_000,
  };
  return { row, faults: { ...faults, 'no attempt lost': inVain }, history };
}

/** Of each run. */
function jobsOf(load: Load): number {
  return Object.keys(load.expected(planOf(0), false).jobs).length;
}

/** Until when what was accepted then is to end, where the fault was over then: what came longer after that has as long. */
function inTime(over: number, accepted: number): number {
  return Math.max(over, accepted - AROUND_MS) + RECOVER_MS;
}

/** When each run ended, if all of it did. */
function endsOf({ jobs }: History): Map<string, number> {
  const ends = new Map<string, number>();
  for (const { run, finished_at } of jobs)
    ends.set(run, Math.max(ends.get(run) ?? 0, finished_at ?? Number.POSITIVE_INFINITY));
  return ends;
}
