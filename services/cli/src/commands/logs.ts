// wfg logs: what a job has printed, and with -f what it prints.
import { Attempt, Job } from '@wfg/shared/contract/job';
import { LogChunk } from '@wfg/shared/contract/log';
import { isEnded } from '@wfg/shared/rules/states';
import { z } from 'zod';
import { type Command, textOf } from '../command.ts';
import { EXIT, ExitError, usage } from '../exit-error.ts';
import { followLog } from '../follow/follow-log.ts';
import { type LogWriter, logWriter } from '../follow/log-writer.ts';
import { createHttpClient, type HttpClient } from '../http-client.ts';
import { endWithReader, say, screen } from '../output.ts';
import { idOf, runId } from '../id.ts';
import { serverUrl } from '../server-url.ts';

/** Chunks in one answer: each has at most 64 KiB. */
const PAGE = 200;
const Chunks = z.array(LogChunk);
const Attempts = z.array(Attempt);

export const logs: Command = {
  usage: 'RUN JOB [-f] [--attempt N] [--url URL] [--json]',
  summary: "show a job's log; -f follows it until the job has ended",
  details: 'Without --attempt all attempts are shown, one after another; the first is 0.',
  options: {
    follow: { type: 'boolean', short: 'f' },
    attempt: { type: 'string' },
    url: { type: 'string' },
    json: { type: 'boolean' },
  },
  arity: [2, 2],
  async run([id = '', jobId = ''], values) {
    endWithReader();
    const run = runId(id);
    const job = idOf('JOB', jobId);
    const attempt = attemptIndex(textOf(values, 'attempt'));
    const http = createHttpClient(serverUrl(textOf(values, 'url'), process.env));
    const path = `api/runs/${run}/jobs/${job}`;
    const known = await http.get(path, Job);
    // One that is followed may be yet to begin.
    const mayCome = values.follow === true && !isEnded(known.state);
    if (attempt !== undefined && !mayCome) await assertAttempt(http, path, { job, attempt });
    const writer = logWriter({ run, job, json: values.json === true, screen: screen() });
    if (values.follow) await followLog(http.base, { run, job, attempt }, writer);
    else await showStored(http, `${path}/logs`, attempt, writer);
    if (attempt !== undefined && mayCome && writer.isEmpty())
      await assertAttempt(http, path, { job, attempt });
    if (writer.isEmpty()) say(`${job} has printed nothing (it is ${known.state})`);
    return EXIT.ok;
  },
};

/** Attempts are counted from 0, in the API and wherever they are shown. */
function attemptIndex(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw usage(`--attempt must be a number from 0, and is "${text}"`);
  return Number(text);
}

/** Throws when the job has not had this attempt. */
async function assertAttempt(
  http: HttpClient,
  path: string,
  { job, attempt }: { job: string; attempt: number },
) {
  const attempts = await http.get(`${path}/attempts`, Attempts);
  if (attempts.some((one) => one.attempt === attempt)) return;
  const last = attempts.at(-1)?.attempt;
  const had =
    last === undefined ? 'it has not begun' : last === 0 ? 'its only one is 0' : `it has 0 to ${last}`;
  throw new ExitError(EXIT.failed, `${job} has no attempt ${attempt}: ${had}`);
}

/** All that is stored, page by page. */
async function showStored(http: HttpClient, path: string, attempt: number | undefined, writer: LogWriter) {
  const query = new URLSearchParams({ limit: String(PAGE) });
  if (attempt !== undefined) query.set('attempt', String(attempt));
  for (let more = true; more; ) {
    const chunks = await http.get(`${path}?${query.toString()}`, Chunks);
    for (const chunk of chunks) writer.chunk(chunk);
    const last = chunks.at(-1);
    if (last) query.set('after', `${last.attempt}:${last.sequence}`);
    more = chunks.length === PAGE;
  }
}
