// Lists runs, the newest first, a page at a time.
import type { RunStatus, RunSummary } from '../contract/run.ts';
import type { RunKind } from '../contract/run-filter.ts';
import type { Queryable } from '../db/pool.ts';
import { idAt, type IdRange, idsBeginning, inBoth } from '../rules/id-range.ts';
import { listStandalone } from './standalone-list.ts';
import { MOVED_ON, RUN_COLUMNS, type RunRow, toRunSummary } from './run-row.ts';

export interface RunFilter {
  workflowId?: string | undefined;
  status?: RunStatus | undefined;
  kind?: RunKind | undefined;
  /** One of its jobs calls the handler of this type. */
  workflow_type?: string | undefined;
  /** One of its jobs requires this label. */
  label?: string | undefined;
  /** Made at or after this time. */
  since?: Date | undefined;
  /** Made before this time. */
  until?: Date | undefined;
  /** Part of its name, whatever the case, or how its id begins. */
  text?: string | undefined;
  /** Runs behind this one. */
  before?: string | undefined;
  /** Not those behind this one. */
  floor?: string | undefined;
  limit: number;
}

/** What a status means in the rows: the state, whether a cancel was asked for, whether any job has begun. */
const MEANING: Record<
  RunStatus,
  [state: RunRow['state'], cancelling: boolean | null, begun: boolean | null]
> = {
  pending: ['open', false, false],
  running: ['open', false, true],
  cancelling: ['open', true, null],
  completed: ['completed', null, null],
  failed: ['failed', null, null],
  cancelled: ['cancelled', null, null],
};

/** A job of the run `r`, live or ended, that is so; `j` is the job. */
const hasJob = (condition: string) => `(
  exists (select from wfg_jobs j where j.run_id = r.id and ${condition})
  or exists (select from wfg_history j where j.run_id = r.id and j.moved_on = ${MOVED_ON} and ${condition}))`;

// A filter that is not given is null. Each call is planned with its values, so `null is null or …` falls away and
// every mix of filters gets the plan that suits it.
const LIST = `
with page as (
  select ${RUN_COLUMNS} from wfg_runs r
  where ($1::text is null or r.workflow_id = $1)
    and ($2::text is null or r.state = $2)
    and ($3::boolean is null or (r.cancel_requested_at is not null) = $3)
    and ($4::boolean is null
      or exists (select from wfg_jobs j where j.run_id = r.id and j.begun_at is not null) = $4)
    and ($5::timestamptz is null or r.created_at >= $5)
    and ($6::timestamptz is null or r.created_at < $6)
    and ($7::uuid is null or r.id < $7)
    and ($8::text is null or ${hasJob('j.workflow_type = $8')})
    and ($9::text is null or ${hasJob('$9 = any(j.required_labels)')})
    and ($11::uuid is null or r.id >= $11)
    and ($12::text is null or position(lower($12) in lower(r.name)) > 0 or starts_with(r.id::text, lower($12)))
  order by r.id desc
  limit $10::int
)
select to_json(r) as run, jobs.versions, jobs.started_at
from page r
cross join lateral (
  select coalesce(sum(j.version), 0) as versions, min(j.begun_at) as started_at
  from wfg_jobs j where j.run_id = r.id
) jobs
order by r.id desc`;

interface Row {
  run: RunRow;
  versions: number;
  started_at: Date | null;
}

/** Looked at for one page. */
const MOST_READ = 5_000;

// No index leads to the jobs of a graph that have a type, nor to any that require a label, are of one kind, have a text in
// their name or were made at a time. The last run to be looked at is asked first, so that what is made or moves meanwhile
// cannot fall between two pages.
const FLOOR = `
select greatest(
  (select r.id from wfg_runs r
    where $4::boolean and ($1::uuid is null or r.id < $1) and ($2::text is null or r.workflow_id = $2)
    order by r.id desc offset ${MOST_READ - 1} limit 1),
  (select j.run_id from wfg_jobs j
    where $5::boolean and ($1::uuid is null or j.run_id < $1) and j.position = 0
    order by j.run_id desc offset ${MOST_READ - 1} limit 1),
  (select h.run_id from wfg_history h
    where $5::boolean and ($1::uuid is null or h.run_id < $1) and h.position = 0
      and ($3::text is null or h.workflow_type = $3)
    order by h.run_id desc offset ${MOST_READ - 1} limit 1)) as floor`;

/** The kinds of rows that a filter may meet. */
const meets = ({ workflowId, kind }: RunFilter) => ({
  graphs: kind === undefined || kind === 'workflow',
  standalone: workflowId === undefined && kind !== 'workflow',
});

/** Behind which nothing is looked at for this page; undefined: all of it is. */
async function floorOf(db: Queryable, filter: RunFilter): Promise<string | undefined> {
  const { before, workflowId, kind, workflow_type, label, text, since, until } = filter;
  const rare = [workflow_type, label, text, since, until];
  if (kind !== 'event' && kind !== 'task' && rare.every((one) => one === undefined)) return undefined;
  const { graphs, standalone } = meets(filter);
  const values = [before, workflowId, workflow_type, graphs, standalone];
  const { rows } = await db.query<{ floor: string | null }>(FLOOR, values);
  return rows[0]?.floor ?? undefined;
}

/** Between when a transaction begins, which is when its run was made, and the making of the run's id. */
const LONG_TRANSACTION_MS = 86_400_000;

/** What is asked for by ids; a task may have been given any id, and any time. */
function idsOf({ kind, since, until, text }: RunFilter): IdRange {
  const beginning = (text === undefined ? null : idsBeginning(text)) ?? {};
  if (kind !== 'workflow' && kind !== 'event') return beginning;
  return inBoth(beginning, {
    from: since && idAt(since),
    behind: until && idAt(new Date(until.getTime() + LONG_TRANSACTION_MS)),
  });
}

export interface RunsFound {
  items: RunSummary[];
  /** Behind which the next page begins; null when there is none. */
  next: string | null;
}

/**
 * Runs without their jobs, standalone jobs among them: `limit` of them, or fewer, even none, when their payloads are
 * large or what the filter asks for is rare.
 */
export async function listRuns(db: Queryable, given: RunFilter): Promise<RunsFound> {
  const { limit, text } = given;
  const ids = inBoth(idsOf(given), { behind: given.before });
  const words = text !== undefined && idsBeginning(text) === null ? text : undefined;
  const asked = { ...given, before: ids.behind, text: words };
  const seen = await floorOf(db, asked);
  const { from: floor } = inBoth(ids, { from: seen });
  const filter = { ...asked, floor, limit: limit + 1 };
  const { graphs, standalone } = meets(given);
  const runs = graphs ? await listGraphs(db, filter) : [];
  const others = standalone ? await listStandalone(db, filter) : { runs: [], isCut: false };
  const end = others.isCut ? others.runs.at(-1)?.run_id : floor === seen ? seen : undefined;
  const found = [...runs, ...others.runs]
    .filter(({ run_id }) => end === undefined || run_id >= end)
    .sort((a, b) => (a.run_id < b.run_id ? 1 : -1));
  const items = found.slice(0, limit);
  return { items, next: (found.length > limit ? items.at(-1)?.run_id : end) ?? null };
}

async function listGraphs(db: Queryable, filter: RunFilter): Promise<RunSummary[]> {
  const { workflowId, status, since, until, before, floor, workflow_type, label, text, limit } = filter;
  const meaning = status === undefined ? [null, null, null] : MEANING[status];
  const { rows } = await db.query<Row>(LIST, [
    workflowId,
    ...meaning,
    since,
    until,
    before,
    workflow_type,
    label,
    limit,
    floor,
    text,
  ]);
  return rows.map(({ run, versions, started_at }) => toRunSummary(run, { versions, started_at }));
}
