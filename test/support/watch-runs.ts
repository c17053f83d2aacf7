// Watches runs and their jobs, to know later whether a run was ever seen to go on without its jobs, or they without it.
import type { Pool } from 'pg';
import { sampleEach } from './sample-each.ts';

/** A run that was seen open with nothing left to run, or ended with something left. */
export interface SeenRun {
  run: string;
  state: string;
  /** How many of its jobs had not ended. */
  going: number;
  /** A scheduler is still to look at it. */
  is_unsettled: boolean;
}

/** One statement sees one moment. */
const UNEVEN = `
  with job as (
    select run_id, state, settled from wfg_jobs union all select run_id, state, true from wfg_history
  ), run as (
    select r.id::text as run, r.state, not r.settled or bool_or(not job.settled) as is_unsettled,
      count(*) filter (where job.state in ('blocked', 'pending', 'active'))::int as going
    from wfg_runs r join job on job.run_id = r.id
    group by r.id
  )
  select * from run where (state = 'open') <> (going > 0)`;

export interface RunWatch extends AsyncDisposable {
  /** What was seen so far, each run in each state once. */
  seen: () => SeenRun[];
  /** How often it has looked. */
  looks: () => number;
}

/** While the database is away nothing is seen. */
export function watchRuns(pool: Pool, eachMs: number): RunWatch {
  const seen = new Map<string, SeenRun>();
  let looks = 0;
  const sampling = sampleEach(eachMs, async () => {
    const { rows } = await pool.query<SeenRun>(UNEVEN);
    for (const row of rows) seen.set(JSON.stringify(row), row);
    looks++;
  });
  return { ...sampling, seen: () => [...seen.values()], looks: () => looks };
}
