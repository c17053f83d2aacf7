// wfg rerun: starts a new run of the jobs of an ended one.
import { rerun as rerunRoute } from '@wfg/shared/contract/routes/runs';
import { type Command, textOf } from '../command.ts';
import { EXIT } from '../exit-error.ts';
import { createHttpClient } from '../http-client.ts';
import { runId } from '../id.ts';
import { print, say } from '../output.ts';
import { SERVER_OPTIONS, serverOf } from '../server.ts';
import { jsonLine } from '../terminal-safe.ts';

export const rerun: Command = {
  usage: 'RUN [--from failed|JOB] [--url URL] [--token TOKEN] [--json]',
  summary: 'run the jobs of an ended run again, as a new run',
  details: [
    '--from failed runs what failed or was cancelled and all below it, --from JOB that job and all below it; what is not',
    "run again is taken over with its outputs. The new run's id alone is on stdout: id=$(wfg rerun RUN).",
  ].join('\n'),
  options: { from: { type: 'string' }, ...SERVER_OPTIONS, json: { type: 'boolean' } },
  arity: [1, 1],
  async run([id = ''], values) {
    const run = runId(id);
    const http = createHttpClient(serverOf(values, process.env));
    const { run_id } = await http(rerunRoute, { params: { run }, body: { from: textOf(values, 'from') } });
    const page = new URL(`runs/${run_id}`, http.server.base).href;
    if (values.json) print(jsonLine({ type: 'submitted', run_id, url: page }));
    else {
      print(`${run_id}\n`);
      say(`its page is ${page}`);
    }
    return EXIT.ok;
  },
};
