// THE claim: takes due jobs for a worker and gives it a lease on each.
//
// Why it is written so:
// * `labels @> required` over a backlog reads every foreign job. A lane, (required labels, priority), is the unit of
//   eligibility instead: the first CTE walks the pending lanes by a loose scan of wfg_jobs_claim, one probe a lane.
// * Of each lane served, the first due rows are read from the index alone, without locks, and merged, so that order
//   holds across sets of labels: priority, then run_at, then key. Sorting `lane = any(…)` would read the whole backlog.
// * Only then rows are locked, by primary key and with SKIP LOCKED, at most `limit`; the state is checked again under
//   the lock, since a candidate may have been claimed meanwhile. Labels too: two sets could share a hash.
// * What another claim holds locked is skipped, so a short answer may hide more work further down: `claimJobs` looks
//   again, four times as deep, until it has enough or the due rows end.
// * What has expired is left to the reaper, who says so.
// * The version grows by two: a claim may tell two things, that the job and that its run has started.
// * While somebody's transaction stays open, what was claimed stays in the index, in front. So a claim that was filled tells
//   where it ended, and the next one begins there (ClaimMemory), but never behind what became due in the last two seconds,
//   since it may be committed later than what is due after it. It is for less than a second that what is older waits.
// * The claim never shares a transaction with a finish or a release: that deadlocks, SKIP LOCKED or not.
//
// Measured with `npm run bench` (PostgreSQL 18, 2 cores; planning and round trip included; median of 15, range):
//   jobs taken                          1                    4                    200
//   20,000 due, nothing else            3.7 ms (2.9 to 12)   3.7 ms (3.2 to 4.5)  28 ms (20 to 50)
//   and 1,000,000 due in 40 foreign     2.5 ms (2.4 to 4.7)  3.0 ms (2.4 to 4.3)  10 ms (8.7 to 13)
//   lanes, 200,000 delayed in its own, 500,000 ended
// The server's share of the last row: planning 0.8 ms, execution 1.0 ms for 4 jobs, of which a probe a lane 0.6 ms.
// The last 10,000 of 40,000 jobs, of the rate without an open transaction: 0.89 (0.84 to 1.35) with it, 0.40 (0.30 to
// 0.73) when nothing is remembered (deploy/adr/claims-remember-where-they-ended.md).
import type { Backoff } from '../contract/backoff.ts';
import type { Queryable } from '../db/pool.ts';
import type { ClaimMemory } from './claim-memory.ts';

export interface ClaimRequest {
  workerId: string;
  /** This start of the worker, apart from its name; null for a worker that claims over HTTP. */
  instance: string | null;
  /** Every label offered, implied ones (`:command`) included. */
  labels: readonly string[];
  /** Most jobs to take, from 1. */
  limit: number;
  leaseSecs: number;
  /** 63 random bits in decimal: with key and attempt it makes a lease nobody can guess. */
  nonce: string;
}

interface Claimed {
  run_id: string;
  position: number;
  job_id: string;
  workflow_id: string | null;
  /** Of a task. */
  step: string | null;
  required_labels: string[];
  priority: number;
  attempt: number;
  tries: number;
  max_attempts: number;
  /** Null: none was given with the job. */
  backoff: Backoff | null;
  nonce: string;
  created_at: Date;
  run_at: Date;
  started_at: Date;
  timeout_secs: number | null;
  parents: number[];
  run_env: Record<string, string>;
}

export interface ClaimedCommand extends Claimed {
  kind: 'command';
  workflow_type: null;
  payload: null;
  /** A CommandSpec; checked by who executes it, so that one which is none spoils no claim of others. */
  spec: unknown;
}

/** The call of a handler, standalone or in a graph. */
export interface ClaimedEvent extends Claimed {
  kind: 'event';
  workflow_type: string;
  /** Integers beyond 2^53 are opaque values, which `JSON.stringify` writes as they came. */
  payload: unknown;
  spec: null;
}

/** A task at the step that comes next. */
export interface ClaimedTask extends Claimed {
  kind: 'task';
  /** The task's name. */
  workflow_type: string;
  /** The whole step, `{"<Task>":{"<Step>":<state>}}`; integers beyond 2^53 as in an event. */
  payload: unknown;
  spec: null;
}

export type ClaimedJob = ClaimedCommand | ClaimedEvent | ClaimedTask;

/** What is told of a claimed job, `j` of wfg_jobs, besides its run's env. */
export const CLAIMED_COLUMNS = `
  j.run_id, j.position, j.job_id, j.workflow_id, j.kind, j.workflow_type, j.step,
  coalesce(j.resolved -> 'payload', j.payload) as payload, j.required_labels,
  j.priority, j.attempt, j.tries, j.max_attempts, j.backoff, j.nonce::text, j.created_at, j.run_at, j.started_at,
  j.timeout_secs, j.parents, coalesce(j.resolved -> 'spec', j.spec) as spec`;

/**
 * The claim from the CTE `lane`, each lane with a key that nothing due comes before; `due` is what else is asked of a
 * candidate `j`. The first row is no job: it says how many candidates there were, and in `lanes` where each lane may be
 * begun next time, at the last job claimed.
 */
const claimFrom = (lane: string, due: string) => `
with recursive ${lane}, candidate as (
  select due.run_id, due.position, lane.lane, lane.priority, due.run_at
  from lane
  cross join lateral (
    select j.run_id, j.position, j.run_at from wfg_jobs j
    where j.state = 'pending' and j.lane = lane.lane and j.run_at <= wfg_now() ${due}
    order by j.run_at, j.run_id, j.position
    limit $1::int
  ) due
  where lane.required_labels <@ $2::text[]
  order by lane.priority desc, due.run_at, due.run_id, due.position
  limit $1::int
), locked as (
  select j.run_id, j.position, c.lane, c.run_at
  from candidate c
  join wfg_jobs j on j.run_id = c.run_id and j.position = c.position
  where j.state = 'pending' and j.required_labels <@ $2::text[]
    and (j.expires_at is null or j.attempt >= 0 or j.expires_at > wfg_now())
  order by c.priority desc, c.run_at, c.run_id, c.position
  limit $3::int
  for update of j skip locked
), claimed as (
  update wfg_jobs j
  set state = 'active', attempt = j.attempt + 1, tries = j.tries + 1, version = j.version + 2,
      worker_id = $4::text, instance = $5::uuid, nonce = $6::bigint, lease_secs = $7::int,
      lease_expires_at = wfg_now() + make_interval(secs => $7::int),
      started_at = wfg_now(), begun_at = coalesce(j.begun_at, wfg_now()), updated_at = wfg_now(), exit_code = null, outcome = null,
      log_chunks = null, log_lines = null, log_bytes = null
  from locked l
  where j.run_id = l.run_id and j.position = l.position
  returning ${CLAIMED_COLUMNS}
), next as (
  select lane.lane, lane.required_labels, lane.priority, coalesce(last.run_at, lane.run_at) as run_at,
    coalesce(last.run_id, lane.run_id) as run_id, coalesce(last.position, lane.position) as position
  from lane
  left join lateral (
    select l.run_at, l.run_id, l.position from locked l where l.lane = lane.lane
    order by l.run_at desc, l.run_id desc, l.position desc
    limit 1
  ) last on true
  where lane.required_labels <@ $2::text[]
)
select told.candidates, told.lanes, claimed.*, coalesce(r.env, '{}') as run_env
from (
  select (select count(*)::int from candidate) as candidates, (select json_agg(next)::text from next) as lanes
) told
full join claimed on false
left join wfg_runs r on r.id = claimed.run_id
order by claimed.priority desc nulls first, claimed.run_at, claimed.run_id, claimed.position`;

const KEY = 'lane, required_labels, priority, run_at, run_id, position';

/** From the start of every lane in which a job waits. */
export const CLAIM = claimFrom(
  `lane as (
  (select ${KEY} from wfg_jobs where state = 'pending' order by lane, run_at, run_id, position limit 1)
  union all
  select next.*
  from lane
  cross join lateral (
    select ${KEY.replaceAll(/(\w+)/g, 'j.$1')} from wfg_jobs j
    where j.state = 'pending' and j.lane > lane.lane
    order by j.lane, j.run_at, j.run_id, j.position limit 1
  ) next
)`,
  '',
);

/** From where the claim before ended, in the lanes that it knew. */
export const CLAIM_ON = claimFrom(
  `lane as (
  select * from json_to_recordset($8::json) as known (lane bigint, required_labels text[], priority int,
    run_at timestamptz, run_id uuid, position int)
)`,
  `and (j.run_at, j.run_id, j.position) >= (least(lane.run_at, wfg_now() - interval '2 seconds'), lane.run_id, lane.position)`,
);

type ClaimRow =
  | { candidates: number; lanes: string | null; run_id: null }
  | ({ candidates: null } & ClaimedJob);

const MAX_DEPTH = 10_000;

/** Claims up to `limit` due jobs whose labels are all offered, in order; an empty array when there is none. */
export async function claimJobs(
  db: Queryable,
  request: ClaimRequest,
  memory: ClaimMemory,
): Promise<ClaimedJob[]> {
  const { labels, limit } = request;
  const place = memory.recall(labels);
  const jobs: ClaimedJob[] = [];
  if (place) {
    const next = await take(db, request, jobs, place.lanes);
    if (next !== null) place.lanes = next;
    if (jobs.length === limit) return jobs;
  }
  const start = performance.now();
  const lanes = await take(db, request, jobs, null);
  memory.keep(labels, jobs.length === limit ? lanes : null, performance.now() - start);
  return jobs;
}

/** Adds jobs up to the limit; returns where the next claim may begin. */
async function take(
  db: Queryable,
  { labels, limit, workerId, instance, nonce, leaseSecs }: ClaimRequest,
  jobs: ClaimedJob[],
  from: string | null,
): Promise<string | null> {
  let next: string | null = null;
  for (let depth = limit; depth <= MAX_DEPTH; depth *= 4) {
    const values = [depth, labels, limit - jobs.length, workerId, instance, nonce, leaseSecs];
    const { rows } =
      from === null
        ? await db.query<ClaimRow>(CLAIM, values)
        : await db.query<ClaimRow>(CLAIM_ON, [...values, from]);
    let candidates = 0;
    for (const row of rows) {
      if (row.run_id === null) ({ candidates, lanes: next } = row);
      else jobs.push(row);
    }
    if (jobs.length >= limit || candidates < depth) break;
  }
  return next;
}
