// wfg cancel: asks for a run's end.
import { cancelRun } from '@wfg/shared/contract/routes/runs';
import { type Command, textOf } from '../command.ts';
import { EXIT } from '../exit-error.ts';
import { createHttpClient } from '../http-client.ts';
import { print } from '../output.ts';
import { runId } from '../id.ts';
import { serverUrl } from '../server-url.ts';
import { jsonLine } from '../terminal-safe.ts';

export const cancel: Command = {
  usage: 'RUN [--url URL] [--json]',
  summary: 'cancel a run: what waits ends at once, what runs is asked to stop',
  options: { url: { type: 'string' }, json: { type: 'boolean' } },
  arity: [1, 1],
  async run([id = ''], values) {
    const run = runId(id);
    const http = createHttpClient(serverUrl(textOf(values, 'url'), process.env));
    await http(cancelRun, { params: { run } });
    print(values.json ? jsonLine({ type: 'cancel_requested', run_id: run }) : `asked run ${run} to end\n`);
    return EXIT.ok;
  },
};
