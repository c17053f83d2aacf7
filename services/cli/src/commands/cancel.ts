// wfg cancel: asks for the end of a run, or of one of its jobs.
import { cancelJob, getJob } from '@wfg/shared/contract/routes/jobs';
import { cancelRun, getRun } from '@wfg/shared/contract/routes/runs';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-error.ts';
import { createHttpClient, type HttpClient } from '../http-client.ts';
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
    const subject = job === undefined ? `run ${run}` : `${job} of run ${run}`;
    const isOver = await isCancelled(http, run, job);
    if (job === undefined) await http(cancelRun, { params: { run } });
    else await http(cancelJob, { params: { run, job } });
    const type = isOver ? 'cancelled_already' : 'cancel_requested';
    if (values.json) print(jsonLine({ type, run_id: run, job_id: job }));
    else print(isOver ? `${subject} is cancelled already\n` : `asked ${subject} to end\n`);
    return EXIT.ok;
  },
};

/** To cancel it again is no error, as it is of what has ended in another way. */
async function isCancelled(http: HttpClient, run: string, job: string | undefined): Promise<boolean> {
  if (job === undefined) return (await http(getRun, { params: { run } })).status === 'cancelled';
  return (await http(getJob, { params: { run, job } })).state === 'cancelled';
}
