// The button that runs a dead letter again: an event with all its tries, a task from the step it stopped at.
import { useSignal } from '@preact/signals';
import type { RunSummary } from '@wfg/shared/contract/run';
import { messageOf } from '../api/call.ts';
import { retryRun } from '../api/runs.ts';
import { Notice } from './notice.tsx';

export function RetryRun({ run }: { run: RunSummary }) {
  const isSent = useSignal(false);
  const problem = useSignal<string | null>(null);
  // Only a run of one job reopens.
  if (run.workflow_type === null || run.status !== 'failed') return null;

  async function retry(): Promise<void> {
    isSent.value = true;
    problem.value = null;
    try {
      await retryRun(run.run_id);
    } catch (error) {
      problem.value = messageOf(error);
    }
    isSent.value = false;
  }

  return (
    <>
      <button type="button" class="button" disabled={isSent.value} onClick={() => void retry()}>
        Run again
      </button>
      {problem.value && <Notice>{problem.value}</Notice>}
    </>
  );
}
