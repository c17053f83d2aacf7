// Nothing goes on: no row waits or runs, and nothing runs that no row knows.
import { type History, jobOf } from '../history.ts';

const ENDED = new Set(['completed', 'failed', 'skipped', 'cancelled']);

export function nothingLeft({ jobs, runs, processes }: History): string[] {
  return [
    ...jobs.filter(({ state }) => !ENDED.has(state)).map((row) => `${jobOf(row)}: is still ${row.state}`),
    ...runs.filter(({ state }) => state === 'open').map(({ run }) => `${run}: is still open`),
    ...processes.map((process) => `still running: ${process}`),
  ];
}
