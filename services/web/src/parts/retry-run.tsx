// The button that runs a dead letter again: an event with all its tries, a task from the step it stopped at.
import type { RunSummary } from '@wfg/shared/contract/run';
import { retryRun } from '../api/runs.ts';
import { Notice } from './notice.tsx';
import { useAction } from './use-action.ts';

export function RetryRun({ run }: { run: RunSummary }) {
  const action = useAction();
  // Only a run of one job reopens.
  if (run.workflow_type === null || run.status !== 'failed') return null;
  return (
    <>
      <button
        type="button"
        class="button"
        disabled={action.isSent.value}
        onClick={() => void action.start(() => retryRun(run.run_id))}
      >
        Run again
      </button>
      {action.problem.value && <Notice>{action.problem.value}</Notice>}
    </>
  );
}
