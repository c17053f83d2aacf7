// What tests ask an api about runs.
import { type Client, type ClientSettings, createClient } from '@wfg/shared/client/client';
import type { Attempt } from '@wfg/shared/contract/job';
import type { LogChunk } from '@wfg/shared/contract/log';
import { getLog, getOutputs, listAttempts } from '@wfg/shared/contract/routes/jobs';
import type { RequestOf } from '@wfg/shared/contract/routes/route-types';
import { getRun, submitRun } from '@wfg/shared/contract/routes/runs';
import type { Run } from '@wfg/shared/contract/run';
import { waitFor } from './wait-for.ts';

export type Workflow = RequestOf<typeof submitRun>['body'];

export interface Runs {
  /** For all else that can be asked. */
  wfg: Client;
  /** Starts a run of an inline workflow and returns its id. */
  submit: (workflow: Workflow) => Promise<string>;
  run: (runId: string) => Promise<Run>;
  /** The run when it has ended. */
  ended: (runId: string, limitMs?: number) => Promise<Run>;
  attempts: (runId: string, jobId: string) => Promise<Attempt[]>;
  logs: (runId: string, jobId: string) => Promise<LogChunk[]>;
  outputs: (runId: string, jobId: string) => Promise<Record<string, string>>;
}

export function runsOf(server: ClientSettings): Runs {
  const wfg = createClient(server);
  const run = (runId: string) => wfg(getRun, { params: { run: runId } });
  return {
    wfg,
    run,
    submit: async (workflow) => (await wfg(submitRun, { body: workflow })).run_id,
    async ended(runId, limitMs = 60_000) {
      return waitFor(
        `run ${runId} to end`,
        async () => {
          const now = await run(runId);
          return now.finished_at !== null && now;
        },
        limitMs,
      );
    },
    attempts: (runId, job) => wfg(listAttempts, { params: { run: runId, job } }),
    logs: (runId, job) => wfg(getLog, { params: { run: runId, job }, query: { limit: 10_000 } }),
    outputs: (runId, job) => wfg(getOutputs, { params: { run: runId, job } }),
  };
}
