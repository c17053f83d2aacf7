// The attempts of a job that had several: each with how it ended, and why.
import { useSignal } from '@preact/signals';
import type { Attempt, Job } from '@wfg/shared/contract/job';
import { useEffect } from 'preact/hooks';
import { getAttempts } from '../api/runs.ts';
import { type Face, faceOfJob } from '../parts/face.ts';
import { Icon } from '../parts/status.tsx';
import { query, setQuery } from '../router.ts';

const FACES: Record<Attempt['outcome'] & {}, Face> = {
  completed: { icon: 'check', word: 'completed', tone: 'good' },
  failed: { icon: 'cross', word: 'failed', tone: 'bad' },
  timed_out: { icon: 'cross', word: 'took too long', tone: 'bad' },
  lost: { icon: 'stop', word: 'lost', tone: 'warn' },
  handed_back: { icon: 'stop', word: 'handed back', tone: 'warn' },
  cancelled: { icon: 'stop', word: 'cancelled', tone: 'warn' },
};

/** The attempt that the address names; null: all of them. */
export function chosenAttempt(): number | null {
  const named = query.value.get('attempt');
  return named !== null && /^\d{1,9}$/.test(named) ? Number(named) : null;
}

export function Attempts({ run, job }: { run: string; job: Job }) {
  const attempts = useSignal<readonly Attempt[]>([]);
  useEffect(() => {
    if (job.attempt <= 0) return undefined;
    const stop = new AbortController();
    // Without them all attempts are shown, one below the other.
    getAttempts(run, job.job_id, stop.signal).then(
      (all) => (attempts.value = all),
      () => undefined,
    );
    return () => stop.abort();
  }, [run, job.job_id, job.attempt, job.state]);
  if (attempts.value.length < 2) return null;
  const chosen = chosenAttempt();
  const one = attempts.value.find(({ attempt }) => attempt === chosen);
  return (
    <div class="attempts">
      <div class="attempt-tabs" role="group" aria-label="Attempts">
        <button type="button" aria-pressed={chosen === null} onClick={() => setQuery({ attempt: null })}>
          All attempts
        </button>
        {attempts.value.map(({ attempt, outcome }) => {
          const face = outcome === null ? faceOfJob(job) : FACES[outcome];
          return (
            <button
              key={attempt}
              type="button"
              aria-pressed={attempt === chosen}
              data-tone={face.tone}
              onClick={() => setQuery({ attempt: String(attempt) })}
            >
              <Icon face={face} /> {attempt} <span>{face.word.toLowerCase()}</span>
            </button>
          );
        })}
      </div>
      {one && <p class="attempt-reason">{reasonOf(one)}</p>}
    </div>
  );
}

function reasonOf({ try: nth, worker_id, outcome, error, exit_code, step }: Attempt): string {
  const parts = [
    `Try ${nth} on ${worker_id}`,
    step && `step ${step}`,
    exit_code !== null && exit_code !== 0 && `exit code ${exit_code}`,
    error && outcome !== 'completed' && (error.split('\n', 1)[0] ?? ''),
  ];
  return parts.filter((part) => typeof part === 'string').join(' · ');
}
