// Where the rows are not as the reference says.
import type { Job } from './job.ts';
import type { JobRow, Rows, RunRow } from './rows.ts';
import type { Run } from './run.ts';

export function difference(
  jobs: ReadonlyMap<string, Job>,
  runs: ReadonlyMap<string, Run>,
  rows: Rows,
): string[] {
  const found = [...jobs.values()].flatMap((job) => {
    const same = rows.jobs.filter(
      ({ run_id, position }) => run_id === job.run_id && position === job.position,
    );
    const [row] = same;
    if (!row || same.length > 1) return [`${job.name} is in ${same.length} rows`];
    const { run_at, run_at_most } = job;
    const early = row.run_at < run_at || row.run_at > run_at_most;
    const at = early
      ? [`run_at of ${job.name} is ${row.run_at}, and should be ${run_at} to ${run_at_most}`]
      : [];
    return [...at, ...differing(job.name, { ...row }, jobRow({ ...job, run_at: row.run_at }))];
  });
  const ended = [...runs.values()].flatMap((run) => {
    const row = rows.runs.find(({ id }) => id === run.id);
    return row ? differing(run.name, { ...row }, runRow(run)) : [`${run.name} has no row`];
  });
  return [...found, ...ended];
}

function differing(name: string, row: Record<string, unknown>, expected: JobRow | RunRow): string[] {
  return Object.entries(expected).flatMap(([key, value]: [string, unknown]) => {
    const text = JSON.stringify(row[key]);
    return text === JSON.stringify(value)
      ? []
      : [`${key} of ${name} is ${text}, and should be ${JSON.stringify(value)}`];
  });
}

function runRow({ id, state, cancel_asked, timed_out, settled, open_jobs, error }: Run): RunRow {
  return { id, state, cancel_asked, timed_out, settled, open_jobs, error };
}

function jobRow(job: Job): JobRow {
  const { name: _name, role: _role, kind: _kind, wait: _wait, priority: _priority, ...rest } = job;
  const { is_foreign: _is_foreign, timeout_secs: _timeout, expires_secs: _expires, ...more } = rest;
  const { printed: _printed, endings: _endings, run_at_most: _most, ...row } = more;
  return row;
}
