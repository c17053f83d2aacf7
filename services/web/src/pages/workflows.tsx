// All workflows, newest first, a page at a time, each with a button that starts it.
import { useSignal } from '@preact/signals';
import type { WorkflowView } from '@wfg/shared/contract/workflow';
import { useEffect } from 'preact/hooks';
import { messageOf } from '../api/call.ts';
import { getWorkflows, runWorkflow } from '../api/workflows.ts';
import { Notice } from '../parts/notice.tsx';
import { setTitle } from '../parts/title.ts';
import { navigate, pathTo, query, runPath } from '../router.ts';
import { usePoll } from '../use-poll.ts';

/** Definitions change seldom, and the list carries all their commands. */
const EVERY_MS = 60_000;

export function WorkflowsPage() {
  const cursor = query.value.get('cursor');
  const { data, problem } = usePoll(cursor ?? '', (signal) => getWorkflows(cursor, signal), EVERY_MS);
  const page = data.value;
  useEffect(() => setTitle('Workflows'), []);
  return (
    <>
      <h1>Workflows</h1>
      {problem.value && <Notice>{problem.value}</Notice>}
      {page === null && !problem.value && <p class="hint">Reading the workflows…</p>}
      {page?.items.length === 0 && <NoWorkflows older={cursor !== null} />}
      {page !== null && page.items.length > 0 && <WorkflowTable workflows={page.items} />}
      <nav class="pager" aria-label="Pages of workflows">
        {cursor !== null && <a href="/definitions">Newest workflows</a>}
        {page?.next && <a href={pathTo('workflows', {}, { cursor: page.next })}>Older workflows</a>}
      </nav>
    </>
  );
}

function NoWorkflows({ older }: { older: boolean }) {
  if (older) return <p class="hint">There are no older workflows.</p>;
  return (
    <p class="hint">
      There are no workflows yet. Put a file into the workflows folder, or post one to{' '}
      <code>/api/workflows</code>.
    </p>
  );
}

function WorkflowTable({ workflows }: { workflows: WorkflowView[] }) {
  const starting = useSignal<string | null>(null);
  const problem = useSignal<string | null>(null);

  async function start(id: string): Promise<void> {
    starting.value = id;
    problem.value = null;
    try {
      const { run_id } = await runWorkflow(id);
      navigate(runPath(run_id));
    } catch (error) {
      problem.value = messageOf(error);
    }
    starting.value = null;
  }

  return (
    <>
      {problem.value && <Notice>{problem.value}</Notice>}
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Workflow</th>
            <th scope="col">Trigger</th>
            <th scope="col" class="figure">
              Jobs
            </th>
            <th scope="col">
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {workflows.map(({ id, name, trigger, jobs }) => (
            <tr key={id}>
              <th scope="row">
                {name}
                {id !== name && <p class="remark">{id}</p>}
              </th>
              <td class="trigger">{trigger}</td>
              <td class="figure">{jobs.length}</td>
              <td class="figure">
                <button
                  type="button"
                  class="button"
                  disabled={starting.value !== null}
                  onClick={() => void start(id)}
                >
                  {starting.value === id ? 'Starting…' : 'Run now'}
                  <span class="unseen">: {name}</span>
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
