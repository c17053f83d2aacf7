// wfg run: submits a workflow file and follows the run to its end.
import type { Run } from '@wfg/shared/contract/run';
import type { Command } from '../command.ts';
import { EXIT, ExitError } from '../exit-error.ts';
import { took } from '../follow/describe-event.ts';
import { followRun } from '../follow/follow-run.ts';
import { readRun } from '../follow/read-run.ts';
import { jsonView, textView } from '../follow/run-view.ts';
import { createHttpClient } from '../http-client.ts';
import { connectLive } from '../live-client.ts';
import { endWithReader, print, say, screen } from '../output.ts';
import { serverOf } from '../server.ts';
import { readSubmission, submit, SUBMIT_OPTIONS } from '../submit-file.ts';
import { terminalLine } from '../terminal-safe.ts';

export const run: Command = {
  usage: 'FILE [--env K=V]... [--url URL] [--token TOKEN] [--json]',
  summary: 'submit a workflow file and follow its run: status and logs, exit 0 or 1 with it',
  details: [
    'FILE is - for standard input. --env sets or replaces one of the env of the workflow.',
    'Ctrl-C leaves the run going.',
  ].join('\n'),
  options: SUBMIT_OPTIONS,
  arity: [1, 1],
  async run([file = ''], values) {
    endWithReader();
    const workflow = await readSubmission(file, values);
    const http = createHttpClient(serverOf(values, process.env));
    const { run: created, page } = await submit(http, workflow);
    const cancel = `wfg cancel ${created.run_id}${values.url ? ` --url ${http.server.base.href}` : ''}`;
    const view = values.json ? jsonView(print) : textView(screen());
    view.begin(created, page);

    const interrupted = new Promise<'interrupted'>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve('interrupted'));
    });
    const live = connectLive(http.server, say);
    try {
      const end = await Promise.race([followRun(live, created, view), interrupted]);
      if (end === 'interrupted') {
        say(`the run goes on: to end it, ${cancel}`);
        return EXIT.interrupted;
      }
      for (const job of end.incomplete)
        say(`the log of ${job} is not complete: wfg logs ${created.run_id} ${job}`);
      if (!values.json) print(summary(await readRun(live, created.run_id)));
      return end.status === 'completed' ? EXIT.ok : EXIT.failed;
    } catch (err) {
      if (err instanceof ExitError) err.message += ` (the run goes on; to end it, ${cancel})`;
      throw err;
    } finally {
      live.close();
    }
  },
};

/** `run … failed in 7.1 s: 1 failed, 2 skipped, 4 completed`. */
function summary(ended: Run): string {
  const counts = new Map<string, number>();
  for (const { state } of ended.jobs) counts.set(state, (counts.get(state) ?? 0) + 1);
  const jobs = [...counts].map(([state, number]) => `${number} ${state}`).join(', ');
  const why = ended.error === null ? '' : ` (${terminalLine(ended.error)})`;
  return `run ${ended.run_id} ${ended.status}${took(ended.started_at, ended.finished_at)}: ${jobs || 'no jobs'}${why}\n`;
}
