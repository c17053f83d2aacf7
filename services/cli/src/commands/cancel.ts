// wfg cancel: asks for the end of a run, or of one of its jobs.
import { cancelJob } from '@wfg/shared/contract/routes/jobs';
import { cancelRun } from '@wfg/shared/contract/routes/runs';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-error.ts';
import { createHttpClient } from '../http-client.ts';
import { print } from '../output.ts';
import { idOf, runId } from '../id.ts';
import { SERVER_OPTIONS, serverOf } from '../server.ts';
import { jsonLine } from '../terminal-safe.ts';

export const cancel: Command = {
  usage: 'RUN [JOB] [--url URL] [--token TOKEN] [--json]',
  summary: 'cancel a run, or one job of it: what waits ends at once, what runs is asked to stop',
  options: { ...SERVER_OPTIONS, json: { type: 'boolean' } },
  arity: [1, 2],
  async run([id = '', jobId], values) {
    const run = runId(id);
    const job = jobId === undefined ? undefined : idOf('JOB', jobId);
    const http = createHttpClient(serverOf(values, process.env));
    if (job === undefined) await http(cancelRun, { params: { run } });
    else await http(cancelJob, { params: { run, job } });
    const asked = job === undefined ? `run ${run}` : `${job} of run ${run}`;
    print(
      values.json
        ? jsonLine({ type: 'cancel_requested', run_id: run, job_id: job })
        : `asked ${asked} to end\n`,
    );
    return EXIT.ok;
  },
};
