// Each job ended once, in the state that it had to end in, and nothing is there that nobody asked for.
import { type History, type Item, type JobRow, jobOf } from '../history.ts';

export function endedOnce({ items, jobs, runs }: History): string[] {
  const asked = new Set(items.map(({ run }) => run));
  const rows = Map.groupBy(jobs, jobOf);
  const states = new Map(runs.map(({ run, state }) => [run, state]));
  const foreign = new Set(jobs.filter(({ run }) => !asked.has(run)).map(({ run }) => run));
  return [
    ...repeated(items),
    ...[...foreign].map((run) => `${run}: nobody asked for this run`),
    ...items.flatMap((item) => itemFaults(item, rows, states.get(item.run))),
  ];
}

/** Two requests with different keys must not have been answered with the same run. */
function repeated(items: readonly Item[]): string[] {
  const byRun = Map.groupBy(items, ({ run }) => run);
  return [...byRun].flatMap(([run, same]) =>
    same.length > 1 ? [`${run}: is ${same.length} runs in one`] : [],
  );
}

function itemFaults(
  { run, state, jobs, late }: Item,
  rows: Map<string, JobRow[]>,
  runState?: string,
): string[] {
  // A cancel that came when the job had ended has changed nothing.
  const isLate = ({ finished_at }: JobRow) => late !== undefined && (finished_at ?? Infinity) <= late.before;
  const faults = Object.entries(jobs).flatMap(([job, expected]) => {
    const key = jobOf({ run, job });
    const own = rows.get(key) ?? [];
    if (own.length !== 1) return [`${key}: has ${own.length} rows`];
    return own.flatMap((row) => {
      const states = [...expected.states, ...((isLate(row) && late?.jobs[job]?.states) || [])];
      return states.includes(row.state) ? [] : [`${key}: is ${row.state}, not ${states.join(' or ')}`];
    });
  });
  // A standalone job is its own run.
  if (runState === undefined || runState === state) return faults;
  const own = Object.keys(jobs).flatMap((job) => rows.get(jobOf({ run, job })) ?? []);
  if (runState === late?.state && own.every(isLate)) return faults;
  return [...faults, `${run}: ended ${runState}, not ${state}`];
}
