// One run: its jobs as they change, and the log of the chosen one.
import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { pickJob } from '../live/pick-job.ts';
import type { RunModel } from '../live/run-model.ts';
import { Graph } from '../dag/graph.tsx';
import { LogPane } from '../log/pane.tsx';
import { JobTable } from '../parts/job-table.tsx';
import { Notice } from '../parts/notice.tsx';
import { RunHead } from '../parts/run-head.tsx';
import { Split } from '../parts/split.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { setTitle } from '../parts/title.ts';
import { Timeline } from '../timeline/timeline.tsx';
import { jobPath, navigate, query } from '../router.ts';
import type { Params } from './pages.ts';
import { useRun } from './use-run.ts';

const TABS = [
  ['graph', 'Graph'],
  ['timeline', 'Timeline'],
  ['list', 'List'],
] as const;

/** Without a job in the address the page chooses one. */
export function RunPage({ params }: { params: Params }) {
  const { run: id = '' } = params;
  const job = params.job ?? null;
  const model = useRun(id);
  const chosen = useChosenJob(model, job);
  const cell = useComputed(() => model.jobs.value.find((one) => one.peek().job_id === chosen.value)).value;
  const problem = model.problem.value;
  const wished = query.value.get('tab');
  const tab = TABS.find(([name]) => name === wished)?.[0] ?? (model.jobs.value.length > 1 ? 'graph' : 'list');
  const run = model.run.value;
  if (run === null) return <Unknown problem={problem} />;
  return (
    <div class="run-page">
      <RunHead run={run} jobs={model.jobs} selected={chosen} />
      {problem && <Notice>{problem}</Notice>}
      <Tabs label="Views of the run" tabs={TABS} chosen={tab} />
      <Split
        name="run"
        label="Height of the jobs"
        upper={
          <div class="pane run-view">
            {tab === 'graph' && <Graph run={id} jobs={model.jobs} selected={chosen} />}
            {tab === 'timeline' && <Timeline run={run} jobs={model.jobs} selected={chosen} />}
            {tab === 'list' && <JobTable run={id} jobs={model.jobs} selected={chosen} />}
          </div>
        }
        lower={
          cell ? (
            <LogPane
              key={cell.peek().job_id}
              run={id}
              cell={cell}
              onRead={() => job === null && navigate(jobPath(id, cell.peek().job_id), 'replace')}
            />
          ) : (
            <p class="pane hint">{job === null ? 'This run has no jobs.' : `This run has no job ${job}.`}</p>
          )
        }
      />
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
