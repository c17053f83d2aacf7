// One workflow: its runs, its jobs, and what can be done with it.
import { useSignal } from '@preact/signals';
import type { WorkflowView } from '@wfg/shared/contract/workflow';
import { getRuns } from '../api/runs.ts';
import { deleteWorkflow, getWorkflow } from '../api/workflows.ts';
import { Confirm } from '../parts/confirm.tsx';
import { ListPage } from '../parts/list-page.tsx';
import { Notice } from '../parts/notice.tsx';
import { RunTable } from '../parts/run-table.tsx';
import { RunWorkflow } from '../parts/run-workflow.tsx';
import { UploadWorkflow } from '../parts/upload-workflow.tsx';
import { useAction } from '../parts/use-action.ts';
import { navigate, pathTo } from '../router.ts';
import { usePoll } from '../use-poll.ts';
import type { Params } from './pages.ts';

const EVERY_MS = 3_000;
const DEFINITION_MS = 60_000;

export function WorkflowPage({ params: { workflow: id = '' } }: { params: Params }) {
  const { data, problem } = usePoll(id, (signal) => getWorkflow(id, signal), DEFINITION_MS);
  const workflow = data.value;
  return (
    <ListPage
      title={workflow?.name ?? id}
      page="workflow"
      params={{ workflow: id }}
      things="runs"
      actions={workflow && <Actions workflow={workflow} />}
      load={(_, cursor, signal) => getRuns({ workflow_id: id }, cursor, signal)}
      everyMs={EVERY_MS}
      empty={<p>It has not run yet.</p>}
    >
      {(runs) => (
        <>
          {problem.value && <Notice>{problem.value}</Notice>}
          {workflow && <Definition workflow={workflow} />}
          <RunTable runs={runs} />
        </>
      )}
    </ListPage>
  );
}

function Actions({ workflow: { id, name } }: { workflow: WorkflowView }) {
  const asking = useSignal(false);
  const replacing = useSignal(false);
  const action = useAction();

  async function answer(yes: boolean): Promise<void> {
    asking.value = false;
    if (yes && (await action.start(() => deleteWorkflow(id)))) navigate(pathTo('workflows'));
  }

  return (
    <>
      <RunWorkflow id={id} name={name} />
      <button type="button" class="button" onClick={() => (replacing.value = true)}>
        Replace…
      </button>
      <button type="button" class="button danger" onClick={() => (asking.value = true)}>
        Delete
      </button>
      {action.problem.value && <Notice>{action.problem.value}</Notice>}
      {replacing.value && <UploadWorkflow id={id} onClose={() => (replacing.value = false)} />}
      {asking.value && (
        <Confirm title={`Delete ${name}?`} yes="Delete it" no="Keep it" onAnswer={(yes) => void answer(yes)}>
          <p>It cannot be started any more, and its schedules are gone. Its runs stay.</p>
        </Confirm>
      )}
    </>
  );
}

function Definition({ workflow: { jobs } }: { workflow: WorkflowView }) {
  return (
    <details class="group">
      <summary>
        {jobs.length} {jobs.length === 1 ? 'job' : 'jobs'}
      </summary>
      <table class="table">
        <tbody>
          {jobs.map(({ id, command, depends_on, required_labels }) => (
            <tr key={id}>
              <th scope="row">
                <bdi>{id}</bdi>
                {depends_on.length > 0 && <p class="remark">after {depends_on.join(', ')}</p>}
                {required_labels.length > 0 && <p class="remark">on {required_labels.join(', ')}</p>}
              </th>
              <td>
                <pre class="command">{command}</pre>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
