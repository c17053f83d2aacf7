// wfg submit: submits a workflow file and leaves its run going.
import type { Command } from '../command.ts';
import { EXIT } from '../exit-error.ts';
import { createHttpClient } from '../http-client.ts';
import { print, say } from '../output.ts';
import { serverOf } from '../server.ts';
import { readSubmission, submit as submitTo, SUBMIT_OPTIONS } from '../submit-file.ts';
import { jsonLine } from '../terminal-safe.ts';

export const submit: Command = {
  usage: 'FILE [--env K=V]... [--url URL] [--token TOKEN] [--json]',
  summary: "submit a workflow file and print its run's id, without following it",
  details: [
    'FILE is - for standard input. --env sets or replaces one of the env of the workflow.',
    "The id alone is on stdout, the address of the run's page on stderr: id=$(wfg submit FILE).",
  ].join('\n'),
  options: SUBMIT_OPTIONS,
  arity: [1, 1],
  async run([file = ''], values) {
    const workflow = await readSubmission(file, values);
    const http = createHttpClient(serverOf(values, process.env));
    const {
      run: { run_id },
      page,
    } = await submitTo(http, workflow);
    if (values.json) print(jsonLine({ type: 'submitted', run_id, url: page }));
    else {
      print(`${run_id}\n`);
      say(`its page is ${page}`);
    }
    return EXIT.ok;
  },
};
