// What can be done to one job of a run that goes on: ended, or run again. A button that does nothing now says why.
import type { Job } from '@wfg/shared/contract/job';
import type { RunSummary } from '@wfg/shared/contract/run';
import { cancelJob, retryJob } from '../api/runs.ts';
import { Notice } from './notice.tsx';
import { useAction } from './use-action.ts';

export function JobActions({ run, job }: { run: RunSummary; job: Job }) {
  const action = useAction();
  // A standalone job is cancelled and retried as a run.
  if (run.workflow_type !== null) return null;
  const isOpen = job.state === 'blocked' || job.state === 'pending' || job.state === 'active';
  const isAgain = job.state === 'failed' || job.state === 'cancelled' || job.state === 'skipped';
  const hasEnded = run.finished_at !== null;
  return (
    <div class="actions">
      {isOpen && !hasEnded && (
        <button
          type="button"
          class="button small danger"
          disabled={job.cancelling || action.isSent.value}
          onClick={() => void action.start(() => cancelJob(run.run_id, job.job_id))}
        >
          {job.cancelling ? 'Cancelling…' : 'Cancel job'}
        </button>
      )}
      {isAgain && (
        <button
          type="button"
          class="button small"
          disabled={hasEnded || action.isSent.value}
          title={hasEnded ? 'The run has ended: rerun it from here instead' : undefined}
          onClick={() => void action.start(() => retryJob(run.run_id, job.job_id))}
        >
          Retry job
        </button>
      )}
      {action.problem.value && <Notice>{action.problem.value}</Notice>}
    </div>
  );
}
