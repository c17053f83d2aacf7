// wfg requeue: gives dead letters new tries, by their ids or all that are meant.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Operation, RequeueFilter } from '@wfg/shared/contract/operation';
import { getOperation, requeueEvents } from '@wfg/shared/contract/routes/events';
import { retryJob } from '@wfg/shared/contract/routes/jobs';
import { jitter } from '@wfg/shared/rules/pause';
import type { Command, Values } from '../command.ts';
import { EXIT, usage } from '../exit-error.ts';
import { createHttpClient, type HttpClient } from '../http-client.ts';
import { runId } from '../id.ts';
import { optionOf } from '../option.ts';
import { print, say } from '../output.ts';
import { SERVER_OPTIONS, serverOf } from '../server.ts';
import { jsonLine } from '../terminal-safe.ts';

const LOOK_MS = 500;
const RULES = RequeueFilter.shape;

export const requeue: Command = {
  usage: 'ID... | --all | [--type TYPE] [--error TEXT] [--before TIME]; [--url URL] [--token TOKEN] [--json]',
  summary: 'run dead letters again, with all their tries; a task goes on at the step it stopped at',
  details: [
    'The ids are those that wfg dead shows. It stops at the first that cannot be run again.',
    'Without ids all events are meant that failed: of this TYPE, with this TEXT in their error, before this TIME (like',
    '2026-07-01T12:00:00Z). Ctrl-C leaves that going on.',
  ].join('\n'),
  options: {
    all: { type: 'boolean' },
    type: { type: 'string' },
    error: { type: 'string' },
    before: { type: 'string' },
    ...SERVER_OPTIONS,
    json: { type: 'boolean' },
  },
  arity: [0, 1000],
  async run(ids, values) {
    const filter = filterOf(values);
    const isFiltered = values.all === true || Object.values(filter).some((value) => value !== undefined);
    if (isFiltered === ids.length > 0)
      throw usage('say which: ids, or --all, --type, --error or --before: see wfg help requeue');
    const runs = ids.map(runId);
    const http = createHttpClient(serverOf(values, process.env));
    if (isFiltered) return requeueAll(http, filter, values);
    for (const run of runs) {
      await http(retryJob, { params: { run, job: 'main' } });
      print(values.json ? jsonLine({ type: 'requeued', run_id: run }) : `requeued ${run}\n`);
    }
    return EXIT.ok;
  },
};

function filterOf(values: Values): RequeueFilter {
  return {
    workflow_type: optionOf(values, 'type', RULES.workflow_type),
    error_contains: optionOf(values, 'error', RULES.error_contains),
    before: optionOf(values, 'before', RULES.before),
  };
}

/** What has been requeued may have failed again by now. */
function doneText({ done, total }: Operation): string {
  if (total === 0) return 'no dead letter is meant: nothing was requeued';
  return `requeued ${done} of ${total}${done < total ? ': the others were no dead letters any more' : ''}`;
}

/** Follows the operation to its end. */
async function requeueAll(http: HttpClient, filter: RequeueFilter, values: Values): Promise<number> {
  const { operation_id } = await http(requeueEvents, { body: { filter } });
  for (let told = -1; ; ) {
    const operation = await http(getOperation, { params: { id: operation_id } });
    const { done, total, finished_at } = operation;
    if (finished_at !== null) {
      print(values.json ? jsonLine({ type: 'requeued_all', ...operation }) : `${doneText(operation)}\n`);
      return EXIT.ok;
    }
    if (done !== told && !values.json) say(`${done} of ${total}`);
    told = done;
    await sleep(jitter(LOOK_MS));
  }
}
