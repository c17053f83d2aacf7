// The button that ends a run, after asking.
import { useSignal } from '@preact/signals';
import type { RunSummary } from '@wfg/shared/contract/run';
import { messageOf } from '../api/call.ts';
import { cancelRun } from '../api/runs.ts';
import { Confirm } from './confirm.tsx';
import { Notice } from './notice.tsx';

export function CancelRun({ run }: { run: RunSummary }) {
  const asking = useSignal(false);
  const sent = useSignal(false);
  const problem = useSignal<string | null>(null);
  if (run.finished_at !== null) return null;

  async function answer(yes: boolean): Promise<void> {
    asking.value = false;
    if (!yes) return;
    sent.value = true;
    problem.value = null;
    try {
      await cancelRun(run.run_id);
    } catch (error) {
      sent.value = false;
      problem.value = messageOf(error);
    }
  }

  const under = sent.value || run.status === 'cancelling';
  return (
    <>
      <button type="button" class="button danger" disabled={under} onClick={() => (asking.value = true)}>
        {under ? 'Cancelling…' : 'Cancel run'}
      </button>
      {problem.value && <Notice>{problem.value}</Notice>}
      {asking.value && (
        <Confirm
          title={`Cancel ${run.name}?`}
          yes="Cancel run"
          no="Keep it running"
          onAnswer={(yes) => void answer(yes)}
        >
          <p>Jobs that wait will not start, and jobs that run are stopped.</p>
        </Confirm>
      )}
    </>
  );
}
