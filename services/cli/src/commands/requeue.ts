// wfg requeue: gives dead letters new tries.
import { retryJob } from '@wfg/shared/contract/routes/jobs';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-error.ts';
import { createHttpClient } from '../http-client.ts';
import { runId } from '../id.ts';
import { print } from '../output.ts';
import { SERVER_OPTIONS, serverOf } from '../server.ts';
import { jsonLine } from '../terminal-safe.ts';

export const requeue: Command = {
  usage: 'ID... [--url URL] [--token TOKEN] [--json]',
  summary: 'run dead letters again, with all their tries; a task goes on at the step it stopped at',
  details: 'The ids are those that wfg dead shows. It stops at the first that cannot be run again.',
  options: { ...SERVER_OPTIONS, json: { type: 'boolean' } },
  arity: [1, 1000],
  async run(ids, values) {
    const runs = ids.map(runId);
    const http = createHttpClient(serverOf(values, process.env));
    for (const run of runs) {
      await http(retryJob, { params: { run, job: 'main' } });
      print(values.json ? jsonLine({ type: 'requeued', run_id: run }) : `${run} is pending again\n`);
    }
    return EXIT.ok;
  },
};
