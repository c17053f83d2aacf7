// All workflows, each with a button that starts it.
import { useSignal } from '@preact/signals';
import type { WorkflowView } from '@wfg/shared/contract/workflow';
import { useEffect } from 'preact/hooks';
import { getWorkflows, messageOf, runWorkflow } from '../api.ts';
import { Notice } from '../parts/notice.tsx';
import { setTitle } from '../parts/title.ts';
import { navigate, runPath } from '../router.ts';
import { usePoll } from '../use-poll.ts';

/** Definitions change seldom, and the list carries all their commands. */
const EVERY_MS = 15_000;

export function WorkflowsPage() {
  const { data, problem } = usePoll('', getWorkflows, EVERY_MS);
  useEffect(() => setTitle('Workflows'), []);
  return (
    <>
      <h1>Workflows</h1>
      {problem.value && <Notice>{problem.value}</Notice>}
      {data.value === null && !problem.value && <p class="hint">Reading the workflows…</p>}
      {data.value?.length === 0 && (
        <p class="hint">
          There are no workflows yet. Put a file into the workflows folder, or post one to{' '}
          <code>/api/workflows</code>.
        </p>
      )}
      {data.value !== null && data.value.length > 0 && <WorkflowTable workflows={data.value} />}
    </>
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
