// All runs, newest first, a page at a time.
import type { RunSummary } from '@wfg/shared/contract/run';
import { useEffect } from 'preact/hooks';
import { getRuns } from '../api/runs.ts';
import { faceOfRun } from '../parts/face.ts';
import { Notice } from '../parts/notice.tsx';
import { Status } from '../parts/status.tsx';
import { Age, Elapsed } from '../parts/time.tsx';
import { setTitle } from '../parts/title.ts';
import { pathTo, query, runPath } from '../router.ts';
import { usePoll } from '../use-poll.ts';

const EVERY_MS = 2000;

export function RunsPage() {
  const cursor = query.value.get('cursor');
  const { data, problem } = usePoll(cursor ?? '', (signal) => getRuns(cursor, signal), EVERY_MS);
  const page = data.value;
  useEffect(() => setTitle('Runs'), []);
  return (
    <>
      <h1>Runs</h1>
      {problem.value && <Notice>{problem.value}</Notice>}
      {page === null && !problem.value && <p class="hint">Reading the runs…</p>}
      {page?.items.length === 0 && <NoRuns older={cursor !== null} />}
      {page !== null && page.items.length > 0 && <RunTable runs={page.items} />}
      <nav class="pager" aria-label="Pages of runs">
        {cursor !== null && <a href="/">Newest runs</a>}
        {page?.next && <a href={pathTo('runs', {}, { cursor: page.next })}>Older runs</a>}
      </nav>
    </>
  );
}

function NoRuns({ older }: { older: boolean }) {
  if (older) return <p class="hint">There are no older runs.</p>;
  return (
    <p class="hint">
      Nothing has run yet. Start a <a href="/definitions">workflow</a>, or a file with{' '}
      <code>wfg run FILE</code>.
    </p>
  );
}

function RunTable({ runs }: { runs: RunSummary[] }) {
  return (
    <table class="table">
      <thead>
        <tr>
          <th scope="col">Run</th>
          <th scope="col">Status</th>
          <th scope="col" class="figure wide-only">
            Time
          </th>
          <th scope="col" class="figure">
            Created
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <tr key={run.run_id} class="linked" data-state={run.status}>
            <th scope="row">
              <a class="row-link" href={runPath(run.run_id)}>
                {run.name}
                {run.number !== null && <span class="number"> #{run.number}</span>}
              </a>
              {run.error && <p class="remark">{run.error}</p>}
            </th>
            <td>
              <Status face={faceOfRun(run.status)} />
            </td>
            <td class="figure wide-only">
              <Elapsed from={run.started_at} to={run.finished_at} />
            </td>
            <td class="figure">
              <Age of={run.created_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
