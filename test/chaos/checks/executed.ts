// Rows and executions tell the same: what ran has an attempt, ran once for it, and what completed did run to its end.
import { type AttemptRow, attemptOf, type History, jobOf, type Mark } from '../history.ts';

/** Outcomes that the attempt's own worker has told. */
const TOLD = new Set(['completed', 'failed']);

export function executed({ jobs, attempts, marks }: History): string[] {
  const known = new Map(attempts.map((row) => [attemptOf(row), row]));
  const written = Map.groupBy(marks, attemptOf);
  return [
    ...[...written].flatMap(([key, own]) => markFaults(key, own, known.get(key))),
    ...attempts.flatMap((row) => attemptFaults(row, written.get(attemptOf(row)) ?? [])),
    ...twice(attempts),
    ...jobs.flatMap((row) => {
      if (row.state !== 'completed') return [];
      const last = known.get(attemptOf(row));
      return last?.outcome === 'completed' ? [] : [`${jobOf(row)}: completed, and its last attempt did not`];
    }),
  ];
}

function markFaults(key: string, own: Mark[], row?: AttemptRow): string[] {
  const starts = own.filter(({ what }) => what === 'start').length;
  const faults = starts === 1 ? [] : [`${key}: began ${starts} times`];
  return row ? faults : [...faults, `${key}: was executed, and no row knows of it`];
}

function attemptFaults(row: AttemptRow, own: Mark[]): string[] {
  // One that was taken back may go on for a while, under a worker that does not know it.
  const late = own.find(({ at }) => row.outcome !== 'lost' && Math.floor(row.finished_at) < at);
  if (late) return [`${attemptOf(row)}: wrote "${late.what}" after it was ${row.outcome}`];
  if (!TOLD.has(row.outcome)) return [];
  const isWhole = own.some(({ what }) => what === 'start') && own.some(({ what }) => what === 'end');
  return isWhole ? [] : [`${attemptOf(row)}: is ${row.outcome}, and was not executed to its end`];
}

/** A job, or a step of a task, completes once. */
function twice(attempts: readonly AttemptRow[]): string[] {
  const completed = attempts.filter(({ outcome }) => outcome === 'completed');
  const groups = Map.groupBy(completed, (row) => `${jobOf(row)} ${row.step ?? ''}`.trim());
  return [...groups].flatMap(([key, own]) =>
    own.length > 1 ? [`${key}: completed ${own.length} times`] : [],
  );
}
