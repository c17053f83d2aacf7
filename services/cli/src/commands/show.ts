// wfg show: a run with its jobs, or one job with its attempts and outputs.
import { getJob, listAttempts } from '@wfg/shared/contract/routes/jobs';
import { getRun } from '@wfg/shared/contract/routes/runs';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-error.ts';
import { createHttpClient } from '../http-client.ts';
import { idOf, runId } from '../id.ts';
import { endWithReader, paper, print } from '../output.ts';
import { SERVER_OPTIONS, serverOf } from '../server.ts';
import { jobText } from '../show/job-text.ts';
import { runText } from '../show/run-text.ts';
import { jsonLine } from '../terminal-safe.ts';

/** The latest ones, of which a task may have a great many. */
const ATTEMPTS = 100;

export const show: Command = {
  usage: 'RUN [JOB] [--url URL] [--token TOKEN] [--json]',
  summary: 'show a run with its jobs, or a job with its attempts and outputs',
  details: [
    `A job that waits says what for. Of its attempts the last ${ATTEMPTS} are shown.`,
    '--json: the run, or the job with `outputs` and `attempts`, as one line.',
  ].join('\n'),
  options: { ...SERVER_OPTIONS, json: { type: 'boolean' } },
  arity: [1, 2],
  async run([id = '', jobId], values) {
    endWithReader();
    const run = runId(id);
    const job = jobId === undefined ? undefined : idOf('JOB', jobId);
    const http = createHttpClient(serverOf(values, process.env));
    if (job === undefined) {
      const found = await http(getRun, { params: { run } });
      const page = new URL(`runs/${run}`, http.server.base).href;
      print(values.json ? jsonLine(found) : runText(found, page, paper(), Date.now()));
      return EXIT.ok;
    }
    const params = { run, job };
    const found = await http(getJob, { params });
    const after = found.attempt < ATTEMPTS ? undefined : found.attempt - ATTEMPTS;
    const attempts = await http(listAttempts, { params, query: { after, limit: ATTEMPTS } });
    if (values.json) print(jsonLine({ ...found, attempts }));
    else print(jobText({ run, job: found, attempts }, paper(), Date.now()));
    return EXIT.ok;
  },
};
