// wfg workers: who there is to run jobs, and what each is running.
import { listWorkers } from '@wfg/shared/contract/routes/workers';
import type { Worker } from '@wfg/shared/contract/worker';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-error.ts';
import { createHttpClient } from '../http-client.ts';
import { endWithReader, paper, print, say } from '../output.ts';
import { SERVER_OPTIONS, serverOf } from '../server.ts';
import { type Column, tableText } from '../table.ts';
import { jsonLine, terminalLine } from '../terminal-safe.ts';
import { ageText } from '../time-text.ts';
import { TINTS } from '../tint.ts';

export const workers: Command = {
  usage: '[--url URL] [--token TOKEN] [--json]',
  summary: 'list the workers, the newest first, with what each is running and what is wrong with it',
  details: 'BEAT is how long ago one was last heard of. --json: a worker a line, with the runs of its jobs.',
  options: { ...SERVER_OPTIONS, json: { type: 'boolean' } },
  arity: [0, 0],
  async run(_args, values) {
    endWithReader();
    const http = createHttpClient(serverOf(values, process.env));
    const found = await http(listWorkers);
    if (values.json) print(found.map(jsonLine).join(''));
    else if (found.length === 0) say('there are no workers: jobs wait until one is started');
    else print(tableText(columns(Date.now()), found, paper()) + found.map(problemLine).join(''));
    return EXIT.ok;
  },
};

/** A line of its own: what is wrong is worth reading to its end. */
function problemLine({ worker_id, problem }: Worker): string {
  return problem === null ? '' : `${worker_id}: ${terminalLine(problem)}\n`;
}

function columns(now: number): Column<Worker>[] {
  return [
    { title: 'STATUS', text: (worker) => worker.status, tint: (worker) => TINTS[worker.status] },
    { title: 'WORKER', text: (worker) => worker.worker_id, shrinks: true },
    { title: 'BEAT', text: (worker) => ageText(now - worker.last_heartbeat_ms) },
    { title: 'BUSY', text: ({ jobs, concurrency }) => `${jobs.length}/${concurrency}` },
    { title: 'LABELS', text: ({ labels }) => labels.join(','), shrinks: true },
    { title: 'JOBS', text: ({ jobs }) => jobs.map((job) => job.job_id).join(','), shrinks: true },
  ];
}
