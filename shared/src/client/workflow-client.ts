// workflow-graph's TypeScript client, method for method.
import type { LogChunk } from '../contract/log.ts';
import { nextCursor } from '../contract/page.ts';
import type { RequestOf } from '../contract/routes/route-types.ts';
import { listWorkers } from '../contract/routes/workers.ts';
import { cancelRuns, getLatestLog, startRun, streamLatestLog } from '../contract/routes/workflow-runs.ts';
import { createWorkflow, getWorkflow, listWorkflows } from '../contract/routes/workflows.ts';
import type { Worker } from '../contract/worker.ts';
import type { WorkflowView } from '../contract/workflow.ts';
import { createClient } from './client.ts';
import { WfgApiError } from './errors.ts';

type NewWorkflow = RequestOf<typeof createWorkflow>['body'];

/** A refusal by its method: `getStatus("ci"): 404 Not Found — there is no workflow ci`. */
export class WorkflowApiError extends WfgApiError {
  override name = 'WorkflowApiError';
}

/** A client of the server at `url`. Everything throws a WorkflowApiError when the server refuses. */
export function workflowClient(url: string | URL, token?: string) {
  const wfg = createClient({ url, token });
  return {
    /** All there are, the newest first. */
    listWorkflows: () =>
      named('listWorkflows()', async () => {
        const found: WorkflowView[] = [];
        for (let cursor: string | null | undefined; cursor !== null; ) {
          const { body, headers } = await wfg.answer(listWorkflows, { query: { cursor } });
          found.push(...body);
          cursor = nextCursor(headers.get('link'));
        }
        return found;
      }),
    /** The definition with the states of its latest run. */
    getStatus: (id: string): Promise<WorkflowView> =>
      named(`getStatus("${id}")`, () => wfg(getWorkflow, { params: { id } })),
    /** Stores it under an id of its own. */
    createWorkflow: (workflow: NewWorkflow): Promise<WorkflowView> =>
      named('createWorkflow(…)', () => wfg(createWorkflow, { body: workflow })),
    /** Starts a run, or finds the one that goes on. */
    runWorkflow: (id: string): Promise<{ run_id: string }> =>
      named(`runWorkflow("${id}")`, () => wfg(startRun, { params: { id } })),
    cancelWorkflow: (id: string): Promise<undefined> =>
      named(`cancelWorkflow("${id}")`, () => wfg(cancelRuns, { params: { id } })),
    /** What the job printed in the latest run. */
    getJobLogs: (id: string, job: string): Promise<LogChunk[]> =>
      named(`getJobLogs("${id}", "${job}")`, () => wfg(getLatestLog, { params: { id, job } })),
    /** What it printed and prints, until it has ended. */
    async *streamLogs(id: string, job: string): AsyncGenerator<LogChunk> {
      const events = wfg.stream(streamLatestLog, { params: { id, job } });
      try {
        for await (const { event, data } of events) if (event === 'log') yield data;
      } catch (err) {
        throw renamed(`streamLogs("${id}", "${job}")`, err);
      }
    },
    listWorkers: (): Promise<Worker[]> => named('listWorkers()', () => wfg(listWorkers)),
  };
}

async function named<T>(method: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (err) {
    throw renamed(method, err);
  }
}

function renamed(method: string, err: unknown): unknown {
  return err instanceof WfgApiError ? new WorkflowApiError(method, err) : err;
}
