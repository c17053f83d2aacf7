// One run: its jobs as they change, and the log of the chosen one.
import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { pickJob } from '../live/pick-job.ts';
import type { RunModel } from '../live/run-model.ts';
import { LogPane } from '../log/pane.tsx';
import { JobTable } from '../parts/job-table.tsx';
import { Notice } from '../parts/notice.tsx';
import { RunHead } from '../parts/run-head.tsx';
import { setTitle } from '../parts/title.ts';
import { navigate, runPath } from '../router.ts';
import type { Params } from './pages.ts';
import { useRun } from './use-run.ts';

/** Without a job in the address the page chooses one. */
export function RunPage({ params }: { params: Params }) {
  const { run: id = '' } = params;
  const job = params.job ?? null;
  const model = useRun(id);
  const chosen = useChosenJob(model, job);
  const known = useComputed(() => model.run.value !== null).value;
  const cell = useComputed(() => model.jobs.value.find((one) => one.peek().job_id === chosen.value)).value;
  const problem = model.problem.value;
  if (!known) return <Unknown problem={problem} />;
  return (
    <div class="run-page">
      <RunHead run={model.run} />
      {problem && <Notice>{problem}</Notice>}
      <div class="run-body">
        <JobTable run={id} jobs={model.jobs} selected={chosen} />
        {cell ? (
          <LogPane
            key={cell.peek().job_id}
            run={id}
            cell={cell}
            onRead={() => job === null && navigate(runPath(id, cell.peek().job_id), 'replace')}
          />
        ) : (
          <p class="pane hint">{job === null ? 'This run has no jobs.' : `This run has no job ${job}.`}</p>
        )}
      </div>
    </div>
  );
}

function Unknown({ problem }: { problem: string | null }) {
  useEffect(() => setTitle('Run'), []);
  return (
    <>
      <h1>Run</h1>
      {problem === null ? <p class="hint">Reading the run…</p> : <Notice>{problem}</Notice>}
    </>
  );
}

/** The job that the address names, else the one that the page picks, anew with each event. */
function useChosenJob(model: RunModel, job: string | null): ReadonlySignal<string | null> {
  const named = useSignal(job);
  const chosen = useSignal(job);
  useEffect(() => {
    named.value = job;
  }, [job]);
  useSignalEffect(() => {
    void model.run.value;
    // Peeked: an effect that listens to ten thousand jobs costs more than the look at them.
    const jobs = model.jobs.value.map((cell) => cell.peek());
    chosen.value = named.value ?? pickJob(jobs, chosen.peek());
  });
  return chosen;
}
