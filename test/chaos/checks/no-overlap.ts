// No two executions of a job overlapped while the lease of the first was good, and no lease was taken back before its end.
import { type AttemptRow, attemptOf, type History, jobOf, type Mark } from '../history.ts';

export function noOverlap({ marks, attempts, leases }: History): string[] {
  const expiry = new Map(leases.map((lease) => [attemptOf(lease), lease.expires_at]));
  const rows = new Map(attempts.map((row) => [attemptOf(row), row]));
  const byJob = Map.groupBy(marks, jobOf);
  const early = attempts.flatMap((row) => takenEarly(row, expiry.get(attemptOf(row))));
  return [...early, ...[...byJob.values()].flatMap((own) => overlaps(own, rows, expiry))];
}

/** A worker may give up what it cannot end any more: the error then is not that of an expired lease. */
function takenEarly(row: AttemptRow, expires?: number): string[] {
  if (row.outcome !== 'lost' || !row.error?.includes('stopped renewing it') || expires === undefined)
    return [];
  const early = expires - row.finished_at;
  return early > 0
    ? [`${attemptOf(row)}: its lease was taken back ${early.toFixed(0)} ms before its end`]
    : [];
}

function overlaps(own: Mark[], rows: Map<string, AttemptRow>, expiry: Map<string, number>): string[] {
  const starts = own.filter(({ what }) => what === 'start').toSorted((a, b) => a.attempt - b.attempt);
  return starts.flatMap((start, index) => {
    const before = starts[index - 1];
    if (before === undefined || before.attempt === start.attempt) return [];
    const key = attemptOf(before);
    const over = rows.get(key)?.finished_at;
    // The file has whole milliseconds.
    if (over !== undefined && start.at < Math.floor(over))
      return [`${attemptOf(start)}: began ${(over - start.at).toFixed(0)} ms before ${key} was over`];
    const end = own.find((mark) => mark.what === 'end' && mark.attempt === before.attempt)?.at;
    const good = expiry.get(key) ?? 0;
    return end !== undefined && end > start.at && good > start.at
      ? [`${attemptOf(start)}: began while ${key} ran under a good lease`]
      : [];
  });
}
