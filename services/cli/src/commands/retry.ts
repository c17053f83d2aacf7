// wfg retry: runs a job of a run that goes on again.
import { retryJob } from '@wfg/shared/contract/routes/jobs';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-error.ts';
import { createHttpClient } from '../http-client.ts';
import { idOf, runId } from '../id.ts';
import { print } from '../output.ts';
import { SERVER_OPTIONS, serverOf } from '../server.ts';
import { jsonLine } from '../terminal-safe.ts';

export const retry: Command = {
  usage: 'RUN JOB [--url URL] [--token TOKEN] [--json]',
  summary: 'run a job that failed, was cancelled or skipped again, in a run that still goes on',
  details:
    'What was skipped because of it waits for it again. Of a run that has ended: wfg rerun RUN --from JOB.',
  options: { ...SERVER_OPTIONS, json: { type: 'boolean' } },
  arity: [2, 2],
  async run([id = '', jobId = ''], values) {
    const run = runId(id);
    const job = idOf('JOB', jobId);
    const http = createHttpClient(serverOf(values, process.env));
    await http(retryJob, { params: { run, job } });
    print(values.json ? jsonLine({ type: 'retried', run_id: run, job_id: job }) : `${job} is tried again\n`);
    return EXIT.ok;
  },
};
