// Judges jobs that have an `if` or expressions, when all they need has ended: each is released with its expressions
// replaced by their values, skipped, or failed. Runs in the transaction that holds the lock on their runs.
import type { JobState } from '../contract/job.ts';
import { SpecTemplate } from '../contract/definition.ts';
import type { JobKey } from '../contract/job-key.ts';
import { toStorableJson, toStorableText } from '../contract/json.ts';
import type { Queryable } from '../db/pool.ts';
import { ExpressionError } from '../rules/expression/expression-error.ts';
import { type Facts, judge, type Result, type Verdict } from '../rules/expression/judge.ts';
import type { Lanes } from './advance.ts';
import { readUpstream, UpstreamError } from './upstream.ts';

/** In one statement: a job may have thousands of parents, and 1 MiB of templates. */
const BATCH = 50;

// What a new run's roots wait for; later ones are told by SETTLE.
const ROOTS = `
select j.run_id, j.position
from wfg_runs r
join wfg_jobs j on j.run_id = r.id
where r.id = any($1::uuid[]) and not r.settled and j.state = 'blocked' and j.blocked_on = 0
order by j.run_id, j.position`;

/** Jobs of the (locked) runs that no scheduler has seen which wait for no other, only to be judged. */
export async function findReadyRoots(tx: Queryable, runs: readonly string[]): Promise<JobKey[]> {
  const { rows } = await tx.query<JobKey>(ROOTS, [runs]);
  return rows;
}

const READ = `
select j.run_id, j.position, j.condition, j.spec, j.payload, j.upstream_ok, j.upstream_failed, r.env, j.lane::text,
  r.cancel_requested_at is not null as cancelled, (
    select coalesce(json_agg(json_build_object('job_id', p.job_id, 'state', p.state)), '[]')
    from unnest(j.parents) as parent (position)
    cross join lateral (
      select p.job_id, p.state from wfg_jobs p where p.run_id = j.run_id and p.position = parent.position limit 1
    ) p
  ) as parents
from unnest($1::uuid[], $2::int[]) as k (run_id, position)
join wfg_jobs j on j.run_id = k.run_id and j.position = k.position
join wfg_runs r on r.id = j.run_id
where j.state = 'blocked'
order by j.run_id, j.position`;

interface JudgedRow extends JobKey {
  condition: string;
  spec: unknown;
  payload: unknown;
  lane: string;
  upstream_ok: boolean;
  upstream_failed: boolean;
  env: Record<string, string>;
  cancelled: boolean;
  parents: { job_id: string; state: JobState }[];
}

// Those that cannot be evaluated are released too, and parked by the next statement: nobody sees them in between.
const DECIDE = `
update wfg_jobs j
set state = case when d.skipped is null then 'pending' else 'skipped' end,
    error = coalesce(d.skipped, j.error),
    finished_at = case when d.skipped is not null then wfg_now() end,
    settled = d.skipped is null,
    upstream_ok = j.upstream_ok and d.skipped is null,
    run_at = wfg_now(), expires_at = wfg_now() + make_interval(secs => j.expires_secs),
    resolved = d.resolved::json, updated_at = wfg_now(), version = j.version + 1
from unnest($1::uuid[], $2::int[], $3::text[], $4::text[]) as d (run_id, position, skipped, resolved)
where j.run_id = d.run_id and j.position = d.position and j.state = 'blocked'`;

const PARK = `
update wfg_jobs j
set state = 'failed', error = f.error, finished_at = wfg_now(), settled = false,
    updated_at = wfg_now(), version = j.version + 1
from unnest($1::uuid[], $2::int[], $3::text[]) as f (run_id, position, error)
where j.run_id = f.run_id and j.position = f.position and j.state = 'pending'`;

/** Judges the jobs (blocked on nothing, of locked runs); returns how many became claimable, by lane. */
export async function judgeJobs(tx: Queryable, ready: readonly JobKey[]): Promise<Lanes> {
  const lanes: Lanes = {};
  for (let at = 0; at < ready.length; at += BATCH) {
    const { rows } = await tx.query<JudgedRow>(READ, keyColumns(ready.slice(at, at + BATCH)));
    const decisions: Decision[] = [];
    for (const row of rows) {
      const decision = await decide(tx, row);
      decisions.push(decision);
      if (decision.resolved !== null) lanes[row.lane] = (lanes[row.lane] ?? 0) + 1;
    }
    await write(tx, decisions);
  }
  return lanes;
}

interface Decision extends JobKey {
  /** Why it does not run. */
  skipped: string | null;
  /** What is executed, for one that runs. */
  resolved: (Verdict & { run: true }) | null;
  /** Why it cannot be judged. */
  error: string | null;
}

async function decide(tx: Queryable, row: JudgedRow): Promise<Decision> {
  const { run_id, position, condition } = row;
  const undecided = { run_id, position, skipped: null, resolved: null, error: null };
  try {
    const spec = row.spec === null ? null : SpecTemplate.parse(row.spec);
    const verdict = judge({ condition, spec, payload: row.payload }, await factsOf(tx, row));
    if (verdict.run) return { ...undecided, resolved: verdict };
    return { ...undecided, skipped: `its if is false: ${condition}` };
  } catch (error) {
    if (!(error instanceof ExpressionError || error instanceof UpstreamError)) throw error;
    return { ...undecided, error: error.message };
  }
}

async function factsOf(tx: Queryable, row: JudgedRow): Promise<Facts> {
  const outputs = usesOutputs(row) ? await readUpstream(tx, row) : {};
  const needs = row.parents.map(
    ({ job_id, state }) => [job_id, { result: resultOf(state), outputs: outputs[job_id] ?? {} }] as const,
  );
  return {
    env: row.env,
    needs: Object.fromEntries(needs),
    ancestors: { ok: row.upstream_ok, failed: row.upstream_failed },
    cancelled: row.cancelled,
  };
}

/** They may be up to 64 MiB, and most conditions ask for results alone. */
function usesOutputs({ condition, spec, payload }: JudgedRow): boolean {
  const text = `${condition} ${JSON.stringify(spec)} ${JSON.stringify(payload)}`;
  return /needs/i.test(text.replaceAll(/needs\.[\w-]+\.result/gi, ''));
}

/** The result of a job that has ended. */
function resultOf(state: JobState): Result {
  if (state === 'completed') return 'success';
  return state === 'skipped' || state === 'cancelled' ? state : 'failure';
}

async function write(tx: Queryable, decisions: readonly Decision[]): Promise<void> {
  await tx.query(DECIDE, [
    ...keyColumns(decisions),
    decisions.map(({ skipped }) => skipped && toStorableText(skipped)),
    decisions.map(({ resolved }) => resolved && toStorableJson(resolved)),
  ]);
  const faulty = decisions.filter(({ error }) => error !== null);
  if (faulty.length === 0) return;
  await tx.query(PARK, [...keyColumns(faulty), faulty.map(({ error }) => error && toStorableText(error))]);
}

function keyColumns(keys: readonly JobKey[]): unknown[] {
  return [keys.map(({ run_id }) => run_id), keys.map(({ position }) => position)];
}
