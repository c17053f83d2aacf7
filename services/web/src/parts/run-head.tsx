// What is known about a run as a whole, and its buttons.
import type { ReadonlySignal } from '@preact/signals';
import type { RunSummary } from '@wfg/shared/contract/run';
import { useEffect } from 'preact/hooks';
import type { JobCell } from '../live/run-model.ts';
import { pathTo, runPath } from '../router.ts';
import { CancelRun } from './cancel-run.tsx';
import { faceOfRun } from './face.ts';
import { Notice } from './notice.tsx';
import { RerunRun } from './rerun-run.tsx';
import { RetryRun } from './retry-run.tsx';
import { Status } from './status.tsx';
import { Age, Elapsed } from './time.tsx';
import { setTitle } from './title.ts';

interface Props {
  run: RunSummary;
  jobs: ReadonlySignal<readonly JobCell[]>;
  selected: ReadonlySignal<string | null>;
}

export function RunHead({ run, jobs, selected }: Props) {
  const face = faceOfRun(run.status);
  const name = run.number === null ? run.name : `${run.name} #${run.number}`;
  const title = `${face.word}: ${name}`;
  useEffect(() => setTitle(title, face.tone), [title]);
  return (
    <>
      <header class="run-head">
        <h1>
          <bdi>{name}</bdi>
        </h1>
        <Status face={face} />
        <dl class="facts">
          <div>
            <dt>Time</dt>
            <dd>
              <Elapsed from={run.started_at} to={run.finished_at} />
            </dd>
          </div>
          <div>
            <dt>Created</dt>
            <dd>
              <Age of={run.created_at} />
            </dd>
          </div>
          {run.workflow_id !== null && (
            <div>
              <dt>Workflow</dt>
              <dd>
                <a href={pathTo('workflow', { workflow: run.workflow_id })}>{run.workflow_id}</a>
              </dd>
            </div>
          )}
          {run.rerun_of !== null && (
            <div>
              <dt>Rerun of</dt>
              <dd>
                <a href={runPath(run.rerun_of)}>{run.rerun_of.slice(0, 8)}…</a>
              </dd>
            </div>
          )}
        </dl>
        <div class="actions">
          <RetryRun run={run} />
          <RerunRun run={run} jobs={jobs} selected={selected} />
          <CancelRun run={run} />
        </div>
      </header>
      {run.error && <Notice>{run.error}</Notice>}
    </>
  );
}
