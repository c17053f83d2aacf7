// wfg cancel: asks for a run's end.
import { cancelRun } from '@wfg/shared/contract/routes/runs';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-error.ts';
import { createHttpClient } from '../http-client.ts';
import { print } from '../output.ts';
import { runId } from '../id.ts';
import { SERVER_OPTIONS, serverOf } from '../server.ts';
import { jsonLine } from '../terminal-safe.ts';

export const cancel: Command = {
  usage: 'RUN [--url URL] [--token TOKEN] [--json]',
  summary: 'cancel a run: what waits ends at once, what runs is asked to stop',
  options: { ...SERVER_OPTIONS, json: { type: 'boolean' } },
  arity: [1, 1],
  async run([id = ''], values) {
    const run = runId(id);
    const http = createHttpClient(serverOf(values, process.env));
    await http(cancelRun, { params: { run } });
    print(values.json ? jsonLine({ type: 'cancel_requested', run_id: run }) : `asked run ${run} to end\n`);
    return EXIT.ok;
  },
};
