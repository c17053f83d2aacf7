// Tries are counted right, and are within the budget; so are losses that are not charged.
import { type AttemptRow, type History, type JobRow, jobOf } from '../history.ts';

const MOST_LOSSES = 5;

export function tries({ jobs, attempts }: History): string[] {
  const byJob = Map.groupBy(attempts, jobOf);
  return jobs.flatMap((row) => jobFaults(row, byJob.get(jobOf(row)) ?? []));
}

function jobFaults(row: JobRow, attempts: AttemptRow[]): string[] {
  const key = jobOf(row);
  const ordered = attempts.toSorted((a, b) => a.attempt - b.attempt);
  const numbers = ordered.map(({ attempt }) => attempt);
  if (numbers.some((number, index) => number !== index) || numbers.length !== row.attempt + 1)
    return [`${key}: its attempts are ${numbers.join(', ')}, and its last is ${row.attempt}`];
  const faults: string[] = [];
  let charged = 0;
  let lost = 0;
  for (const { outcome } of ordered.slice(begin(row, ordered))) {
    if (outcome === 'lost' && row.kind !== 'command') lost++;
    else if (outcome !== 'handed_back') charged++;
  }
  if (charged !== row.tries) faults.push(`${key}: counts ${row.tries} tries after ${charged}`);
  if (lost !== row.losses) faults.push(`${key}: counts ${row.losses} losses after ${lost}`);
  if (charged > row.max_attempts) faults.push(`${key}: was tried ${charged} times of ${row.max_attempts}`);
  if (lost > MOST_LOSSES) faults.push(`${key}: was lost ${lost} times`);
  return faults;
}

/** Where the last step of a task begins: each has tries of its own. */
function begin({ kind }: JobRow, ordered: AttemptRow[]): number {
  if (kind !== 'task') return 0;
  const stepped = ordered.slice(0, -1).findLastIndex(({ outcome }) => outcome === 'completed');
  return stepped + 1;
}
