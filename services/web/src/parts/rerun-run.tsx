// The button that runs an ended run again, after showing which of its jobs that would be.
import { type ReadonlySignal, useSignal } from '@preact/signals';
import type { RunSummary } from '@wfg/shared/contract/run';
import { useMemo } from 'preact/hooks';
import { rerunRun } from '../api/runs.ts';
import type { JobCell } from '../live/run-model.ts';
import { hasFailed, rerunSet } from '../live/rerun-set.ts';
import { navigate, runPath } from '../router.ts';
import { Dialog } from './dialog.tsx';
import { Notice } from './notice.tsx';
import { useAction } from './use-action.ts';

/** Names shown; the rest is counted. */
const MOST_NAMES = 12;

interface Props {
  run: RunSummary;
  jobs: ReadonlySignal<readonly JobCell[]>;
  selected: ReadonlySignal<string | null>;
}

export function RerunRun({ run, jobs, selected }: Props) {
  const asking = useSignal(false);
  // An event or a task is retried, not rerun.
  if (run.finished_at === null || run.workflow_type !== null) return null;
  return (
    <>
      <button type="button" class="button strong" onClick={() => (asking.value = true)}>
        Rerun…
      </button>
      {asking.value && (
        <RerunDialog run={run} jobs={jobs} selected={selected} onClose={() => (asking.value = false)} />
      )}
    </>
  );
}

function RerunDialog({ run, jobs, selected, onClose }: Props & { onClose: () => void }) {
  const rows = useMemo(() => jobs.peek().map((cell) => cell.peek()), []);
  const job = selected.peek();
  const from = useSignal(hasFailed(rows) ? 'failed' : 'all');
  const action = useAction();
  // Of the dialog: a second answer to the same question makes no second run.
  const key = useMemo(() => crypto.randomUUID(), [from.value]);
  const begin = from.value === 'all' ? undefined : from.value === 'failed' ? 'failed' : (job ?? undefined);
  const chosen = rerunSet(rows, begin);
  const names = new Map(rows.map(({ job_id, name }) => [job_id, name]));

  const choice = (value: string, text: string, isPossible = true) => (
    <label class="choice">
      <input
        type="radio"
        name="from"
        checked={from.value === value}
        disabled={!isPossible}
        onChange={() => (from.value = value)}
      />
      <span>{text}</span>
    </label>
  );

  async function start(): Promise<void> {
    await action.start(async () => {
      const { run_id } = await rerunRun(run.run_id, begin, key);
      navigate(runPath(run_id));
    });
  }

  return (
    <Dialog title={`Rerun ${run.name}`} onClose={onClose}>
      <fieldset class="choices">
        <legend>Which jobs are to run again?</legend>
        {choice('failed', 'What failed, and all that depends on it', hasFailed(rows))}
        {job !== null && choice('job', `${names.get(job) ?? job}, and all that depends on it`)}
        {choice('all', 'All of them')}
      </fieldset>
      <p>
        {chosen.length === 1 ? 'One job runs' : `${chosen.length.toLocaleString()} jobs run`} in a new run;{' '}
        {rows.length === chosen.length
          ? 'none is taken over.'
          : `${(rows.length - chosen.length).toLocaleString()} are taken over with their outputs.`}
      </p>
      <ul class="names">
        {chosen.slice(0, MOST_NAMES).map((id) => (
          <li key={id}>
            <bdi>{names.get(id) ?? id}</bdi>
          </li>
        ))}
        {chosen.length > MOST_NAMES && <li>and {(chosen.length - MOST_NAMES).toLocaleString()} more</li>}
      </ul>
      {action.problem.value && <Notice>{action.problem.value}</Notice>}
      <div class="actions">
        <button type="button" class="button" onClick={onClose}>
          Not now
        </button>
        <button
          type="button"
          class="button strong"
          disabled={action.isSent.value}
          onClick={() => void start()}
        >
          {action.isSent.value ? 'Starting…' : 'Rerun'}
        </button>
      </div>
    </Dialog>
  );
}
