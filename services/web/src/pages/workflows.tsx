// All workflows, newest first, each with its latest states and a button that starts it.
import { useSignal } from '@preact/signals';
import type { GraphStatus, WorkflowView } from '@wfg/shared/contract/workflow';
import { getWorkflows } from '../api/workflows.ts';
import { faceOfRun } from '../parts/face.ts';
import { ListPage } from '../parts/list-page.tsx';
import { RunWorkflow } from '../parts/run-workflow.tsx';
import { Icon } from '../parts/status.tsx';
import { UploadWorkflow } from '../parts/upload-workflow.tsx';
import { pathTo } from '../router.ts';

/** Definitions change seldom, and the list carries all their commands. */
const EVERY_MS = 60_000;

const FACES = {
  queued: faceOfRun('pending'),
  running: faceOfRun('running'),
  success: faceOfRun('completed'),
  failure: faceOfRun('failed'),
  skipped: { icon: 'slash', word: 'Skipped', tone: 'idle' },
  cancelled: faceOfRun('cancelled'),
} as const satisfies Record<GraphStatus, object>;

export function WorkflowsPage() {
  const making = useSignal(false);
  return (
    <>
      <ListPage
        title="Workflows"
        page="workflows"
        things="workflows"
        actions={
          <button type="button" class="button" onClick={() => (making.value = true)}>
            New workflow…
          </button>
        }
        load={(_, cursor, signal) => getWorkflows(cursor, signal)}
        everyMs={EVERY_MS}
        empty={
          <p>
            There are no workflows yet. Write one here, put a file into the workflows folder, or post one to{' '}
            <code>/api/workflows</code>.
          </p>
        }
      >
        {(workflows) => <WorkflowTable workflows={workflows} />}
      </ListPage>
      {making.value && <UploadWorkflow id={null} onClose={() => (making.value = false)} />}
    </>
  );
}

function WorkflowTable({ workflows }: { workflows: readonly WorkflowView[] }) {
  return (
    <table class="table">
      <thead>
        <tr>
          <th scope="col">Workflow</th>
          <th scope="col" class="wide-only">
            Trigger
          </th>
          <th scope="col">Latest states</th>
          <th scope="col">
            <span class="unseen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {workflows.map(({ id, name, trigger, jobs }) => (
          <tr key={id}>
            <th scope="row">
              <a href={pathTo('workflow', { workflow: id })}>
                <bdi>{name}</bdi>
              </a>
              {id !== name && <p class="remark">{id}</p>}
            </th>
            <td class="trigger wide-only">{trigger}</td>
            <td>
              <States jobs={jobs} />
            </td>
            <td class="figure">
              <RunWorkflow id={id} name={name} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** How many jobs of the latest run are in which state. */
function States({ jobs }: Pick<WorkflowView, 'jobs'>) {
  const counts = Map.groupBy(jobs, ({ status }) => status);
  return (
    <span class="graph-about">
      {[...counts].map(([status, of]) => (
        <span key={status} class="status" data-tone={FACES[status].tone} title={FACES[status].word}>
          <Icon face={FACES[status]} />
          {of.length}
          <span class="unseen"> {FACES[status].word}</span>
        </span>
      ))}
    </span>
  );
}
