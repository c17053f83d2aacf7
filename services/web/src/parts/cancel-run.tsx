// The button that ends a run, after asking; once it is ending, what was spared can be ended too.
import { useSignal } from '@preact/signals';
import type { RunSummary } from '@wfg/shared/contract/run';
import { cancelRun } from '../api/runs.ts';
import { Confirm } from './confirm.tsx';
import { Notice } from './notice.tsx';
import { useAction } from './use-action.ts';

export function CancelRun({ run }: { run: RunSummary }) {
  const asking = useSignal(false);
  const action = useAction();
  if (run.finished_at !== null) return null;
  const isUnder = run.status === 'cancelling';

  function answer(yes: boolean): void {
    asking.value = false;
    if (yes) void action.start(() => cancelRun(run.run_id, isUnder));
  }

  return (
    <>
      <button
        type="button"
        class="button danger"
        disabled={action.isSent.value}
        onClick={() => (asking.value = true)}
      >
        {isUnder ? 'Cancel the rest' : 'Cancel run'}
      </button>
      {action.problem.value && <Notice>{action.problem.value}</Notice>}
      {asking.value && (
        <Confirm
          title={isUnder ? `End ${run.name} at once?` : `Cancel ${run.name}?`}
          yes={isUnder ? 'End all jobs' : 'Cancel run'}
          no="Keep it running"
          onAnswer={answer}
        >
          <p>
            {isUnder
              ? 'Jobs that were spared, since they are to run also after a cancel, are stopped too.'
              : 'Jobs that wait will not start, and jobs that run are stopped.'}
          </p>
        </Confirm>
      )}
    </>
  );
}
