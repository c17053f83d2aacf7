// wfg logs: what a job has printed, and with -f what it prints.
import type { Job } from '@wfg/shared/contract/job';
import { getJob, getLog } from '@wfg/shared/contract/routes/jobs';
import { isEnded } from '@wfg/shared/rules/states';
import { type Command, textOf } from '../command.ts';
import { EXIT, ExitError, usage } from '../exit-error.ts';
import { followLog } from '../follow/follow-log.ts';
import { type LogWriter, logWriter } from '../follow/log-writer.ts';
import { createHttpClient, type HttpClient } from '../http-client.ts';
import { endWithReader, say, screen } from '../output.ts';
import { idOf, runId } from '../id.ts';
import { SERVER_OPTIONS, serverOf } from '../server.ts';

/** Chunks in one answer: each has at most 64 KiB. */
const PAGE = 200;

interface JobPath {
  run: string;
  job: string;
}

export const logs: Command = {
  usage: 'RUN JOB [-f] [--attempt N] [--url URL] [--token TOKEN] [--json]',
  summary: "show a job's log; -f follows it until the job has ended",
  details: 'Without --attempt all attempts are shown, one after another; the first is 0.',
  options: {
    follow: { type: 'boolean', short: 'f' },
    attempt: { type: 'string' },
    ...SERVER_OPTIONS,
    json: { type: 'boolean' },
  },
  arity: [2, 2],
  async run([id = '', jobId = ''], values) {
    endWithReader();
    const run = runId(id);
    const job = idOf('JOB', jobId);
    const attempt = attemptIndex(textOf(values, 'attempt'));
    const http = createHttpClient(serverOf(values, process.env));
    const params = { run, job };
    const known = await http(getJob, { params });
    // One that is followed may be yet to begin.
    const mayCome = values.follow === true && !isEnded(known.state);
    if (attempt !== undefined && !mayCome) await assertAttempt(http, params, attempt);
    const writer = logWriter({ run, job, json: values.json === true, screen: screen() });
    if (values.follow) await followLog(http.server, { run, job, attempt }, writer);
    else await showStored(http, params, attempt, writer);
    if (attempt !== undefined && mayCome && writer.isEmpty()) await assertAttempt(http, params, attempt);
    if (writer.isEmpty()) say(emptyText(run, known));
    if (mayCome && attempt === undefined) sayEnd(await http(getJob, { params }));
    return EXIT.ok;
  },
};

function emptyText(run: string, { job_id, state, reused_from }: Job): string {
  if (reused_from === null) return `${job_id} has printed nothing (it is ${state})`;
  return `${job_id} was not run again in run ${run}: wfg logs ${reused_from} ${job_id} shows what it printed`;
}

/** What the log itself need not say: that a worker was lost, or the job cancelled. */
function sayEnd({ job_id, state, error }: Job): void {
  if (state === 'completed') return;
  const [reason = ''] = (error ?? '').split('\n');
  say(`${job_id} is ${state}${reason === '' ? '' : `: ${reason}`}`);
}

/** Attempts are counted from 0, in the API and wherever they are shown. */
function attemptIndex(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw usage(`--attempt must be a number from 0, and is "${text}"`);
  return Number(text);
}

/** Throws when the job has not had this attempt. */
async function assertAttempt(http: HttpClient, params: JobPath, attempt: number) {
  const { attempt: last, started_at } = await http(getJob, { params });
  if (started_at !== null && attempt <= last) return;
  const had =
    started_at === null ? 'it has not begun' : last === 0 ? 'its only one is 0' : `it has 0 to ${last}`;
  throw new ExitError(EXIT.failed, `${params.job} has no attempt ${attempt}: ${had}`);
}

/** All that is stored, page by page. */
async function showStored(http: HttpClient, params: JobPath, attempt: number | undefined, writer: LogWriter) {
  let after: string | undefined;
  for (let more = true; more; ) {
    const chunks = await http(getLog, { params, query: { limit: PAGE, attempt, after } });
    for (const chunk of chunks) writer.chunk(chunk);
    const last = chunks.at(-1);
    if (last) after = `${last.attempt}:${last.sequence}`;
    more = chunks.length === PAGE;
  }
}
