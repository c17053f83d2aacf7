// Why a job does not run yet.
import type { JobState, Waiting } from '../contract/job.ts';
import { noPlace } from '../rules/no-place.ts';
import { type Offers, noWorker } from '../rules/no-worker.ts';
import { isEnded } from '../rules/states.ts';

/** What a job's waiting is judged by, beside its row. */
export interface Surroundings {
  /** The database's time of the read. */
  now: Date;
  /** The jobs it depends on, at least, by position. */
  parents: ReadonlyMap<number, { job_id: string; state: JobState }>;
  offers: Offers;
}

interface WaitingJob {
  state: JobState;
  run_at: Date;
  parents: number[];
  required_labels: string[];
  tries: number;
  max_attempts: number;
}

/** Null when it waits for nothing, or only for a worker with a free place to look. */
export function waitingOf(job: WaitingJob, { now, parents, offers }: Surroundings): Waiting | null {
  if (job.state === 'blocked') {
    const open = job.parents
      .flatMap((position) => parents.get(position) ?? [])
      .filter(({ state }) => !isEnded(state));
    const on = open.map(({ job_id }) => job_id);
    return { reason: 'dependencies', detail: `waits for ${listed(on)}`, until: null, on };
  }
  if (job.state !== 'pending') return null;
  if (job.run_at > now) {
    const until = job.run_at.toISOString();
    const detail = job.tries > 0 ? `try ${job.tries + 1} of ${job.max_attempts} is due at` : 'is due at';
    return { reason: 'delayed', detail: `${detail} ${until}`, until, on: [] };
  }
  const nobody = noWorker(job.required_labels, offers);
  if (nobody !== null) return { reason: 'no_worker', detail: nobody, until: null, on: [] };
  const full = noPlace(job.required_labels, offers);
  return full === null ? null : { reason: 'capacity', detail: full, until: null, on: [] };
}

/** `a, b, c and 7 more`; a job whose parents have all ended waits for the scheduler alone. */
function listed(ids: readonly string[]): string {
  if (ids.length === 0) return 'the scheduler';
  const shown = ids.slice(0, 3).join(', ');
  return ids.length > 3 ? `${shown} and ${ids.length - 3} more` : shown;
}
