// Random graphs under everything at once: schedulers, workers, reapers, lost leases, and people who retry, cancel and
// rerun. What the rows say afterwards must be one story, and no run may be left behind.
import { setTimeout as sleep } from 'node:timers/promises';
import { WfgError } from '@wfg/shared/contract/problem';
import type { FileJob } from '@wfg/shared/contract/workflow';
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { withTx } from '@wfg/shared/db/tx';
import { cancelJob, cancelRuns } from '@wfg/shared/queries/cancel';
import { finishJobs, type Result } from '@wfg/shared/queries/finish';
import { reapExpired } from '@wfg/shared/queries/reap';
import { retryJob } from '@wfg/shared/queries/requeue';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { advanceRuns } from '../../services/scheduler/src/advance-runs.ts';
import { claim, reportOf, submit } from './engine.ts';
import { waitFor } from './wait-for.ts';

/** Going on at once, about. */
const RUNS = 15;
const JOBS = 8;
const CONDITIONS = ['always()', 'failure()', 'cancelled()', 'success()'];

/** What went wrong: nothing, if all is well. */
export interface Aftermath {
  /** Errors that were thrown or logged. */
  errors: string[];
  /** Attempts that were claimed twice. */
  doubled: number;
  /** Jobs that completed though what they need had not, or before it had. */
  early: number;
  /** Jobs whose attempts are not numbered without gaps. */
  gaps: number;
}

/** Lets it rage for so long, then lets all that is left come to its end; rejects if some run never does. */
export async function stormGraphs(pool: Pool, forMs: number): Promise<Aftermath> {
  const errors: string[] = [];
  const begun = new Map<string, number>();
  const runs: string[] = [];
  let isCalm = false;
  const ending = new AbortController();
  const note = (error: unknown) => {
    // People may wish for what cannot be.
    if (!(error instanceof WfgError)) errors.push(String(error));
  };
  const log = pino({ level: 'error' }, { write: (line: string) => errors.push(line) });
  await using doorbell = createDoorbell(pool, pino({ level: 'silent' }));

  async function repeat(act: () => Promise<unknown>, pauseMs = 8): Promise<void> {
    while (!ending.signal.aborted) {
      await act().catch(note);
      await sleep(Math.random() * pauseMs);
    }
  }

  /** People have wishes until it is calm. */
  const wish = (act: (run: string) => Promise<unknown>) =>
    repeat(async () => {
      const run = oneOf(runs);
      if (!isCalm && run !== undefined) await act(run);
    });

  async function work(): Promise<void> {
    const claimed = await claim(pool, { limit: 1 + random(6) });
    for (const { run_id, position, attempt } of claimed) {
      const key = `${run_id} ${position} ${attempt}`;
      begun.set(key, (begun.get(key) ?? 0) + 1);
    }
    await sleep(random(chance(0.2) ? 300 : 15));
    // Some are never reported.
    let left = claimed.filter(() => isCalm || chance(0.85)).map((job) => reportOf(job, outcomeOf()));
    while (left.length > 0) {
      const finished = await finishJobs(pool, left);
      left = finished.flatMap(({ answer, index }) => (answer === 'busy' ? (left[index] ?? []) : []));
    }
  }

  for (let n = 0; n < RUNS; n++) runs.push(await submit(pool, randomGraph()));
  const loops = [
    ...[1, 2, 3].map(() => repeat(() => advanceRuns(pool, doorbell, log), 60)),
    ...[1, 2, 3, 4, 5, 6].map(() => repeat(work)),
    ...[1, 2].map(() => repeat(() => reapExpired(pool, 50))),
    repeat(() => pool.query(LOSE_SOME), 60),
    // Some think better of it before a scheduler looks.
    ...[1, 2, 3, 4].map(() =>
      wish(async (run) => {
        const job = `j${random(JOBS)}`;
        await retryJob(pool, run, job);
        if (chance(0.5)) await cancelJob(pool, run, job);
      }),
    ),
    wish((run) => cancelJob(pool, run, `j${random(JOBS)}`)),
    wish((run) => (chance(0.01) ? withTx(pool, (tx) => cancelRuns(tx, [run], chance(0.3))) : sleep(1))),
    wish(async () => {
      await sleep(20);
      runs.push(await submit(pool, randomGraph()));
      runs.shift();
    }),
  ];
  try {
    await sleep(forMs);
    isCalm = true;
    await waitFor('every run to end', async () => {
      const { rows } = await pool.query(`select from wfg_runs where state = 'open' limit 1`);
      return rows.length === 0;
    });
  } finally {
    ending.abort();
    await Promise.all(loops);
  }
  const { rows } = await pool.query<Omit<Aftermath, 'errors' | 'doubled'>>(AFTERMATH);
  const doubled = [...begun.values()].filter((times) => times > 1).length;
  return { early: 0, gaps: 0, ...rows[0], errors, doubled };
}

const LOSE_SOME = `update wfg_jobs set lease_expires_at = wfg_now() - interval '1 hour'
  where state = 'active' and started_at < wfg_now() - interval '0.1 s' and random() < 0.5`;

const AFTERMATH = `
select
  (select count(*)::int from wfg_history c cross join unnest(c.parents) as needed (position)
   join wfg_history p on p.run_id = c.run_id and p.position = needed.position
   where c.state = 'completed' and c.tolerates = 'nothing'
     and (p.state <> 'completed' or p.finished_at > c.started_at)) as early,
  (select count(*)::int from wfg_history h where h.attempt >= 0 and h.attempt + 1 <> (
    select count(distinct attempt) from (
      select a.attempt from wfg_attempts a where a.run_id = h.run_id and a.position = h.position
      union all select h.attempt) told)) as gaps`;

function randomGraph(): Record<string, FileJob> {
  const jobs: Record<string, FileJob> = {};
  for (let n = 0; n < JOBS; n++) {
    const needs = Object.keys(jobs).filter(() => chance(0.35));
    const condition = chance(0.25) ? oneOf(CONDITIONS) : undefined;
    jobs[`j${n}`] = { needs, ...(condition && { if: condition }) };
  }
  return jobs;
}

function outcomeOf(): Partial<Result> {
  const dice = Math.random();
  if (dice < 0.7) return {};
  if (dice < 0.9) return { outcome: 'failed', retryable: chance(0.5), error: 'bad', exit_code: 1 };
  return { outcome: 'handed_back' };
}

function random(below: number): number {
  return Math.floor(Math.random() * below);
}

function chance(share: number): boolean {
  return Math.random() < share;
}

function oneOf<T>(items: readonly T[]): T | undefined {
  return items[random(items.length)];
}
