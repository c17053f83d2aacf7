// What is known about a run as a whole, and its buttons.
import type { ReadonlySignal } from '@preact/signals';
import type { RunSummary } from '@wfg/shared/contract/run';
import { useEffect } from 'preact/hooks';
import { CancelRun } from './cancel-run.tsx';
import { faceOfRun } from './face.ts';
import { Notice } from './notice.tsx';
import { RetryRun } from './retry-run.tsx';
import { Status } from './status.tsx';
import { Age, Elapsed } from './time.tsx';
import { setTitle } from './title.ts';

export function RunHead({ run: { value: run } }: { run: ReadonlySignal<RunSummary | null> }) {
  const title = run === null ? '' : `${faceOfRun(run.status).word}: ${nameOf(run)}`;
  useEffect(() => setTitle(title), [title]);
  if (run === null) return null;
  return (
    <>
      <header class="run-head">
        <h1>{nameOf(run)}</h1>
        <Status face={faceOfRun(run.status)} />
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
        </dl>
        <div class="actions">
          <RetryRun run={run} />
          <CancelRun run={run} />
        </div>
      </header>
      {run.error && <Notice>{run.error}</Notice>}
    </>
  );
}

function nameOf(run: RunSummary): string {
  return run.number === null ? run.name : `${run.name} #${run.number}`;
}
