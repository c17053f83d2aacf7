// wfg dead: what failed for good and waits for a person.
import { WorkflowType } from '@wfg/shared/contract/event';
import { listDead } from '@wfg/shared/contract/routes/tasks';
import type { DeadLetter } from '@wfg/shared/contract/task';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-error.ts';
import { createHttpClient } from '../http-client.ts';
import { mustFit } from '../option.ts';
import { endWithReader, paper, print, say } from '../output.ts';
import { SERVER_OPTIONS, serverOf } from '../server.ts';
import { type Column, tableText } from '../table.ts';
import { jsonLine } from '../terminal-safe.ts';
import { ageText } from '../time-text.ts';

const PAGE = 500;

export const dead: Command = {
  usage: '[TYPE] [--url URL] [--token TOKEN] [--json]',
  summary: 'list dead letters: events out of tries, and tasks that stopped at a step',
  details:
    'TYPE is of the event, or the name of the task. wfg requeue ID gives one new tries. --json: one a line.',
  options: { ...SERVER_OPTIONS, json: { type: 'boolean' } },
  arity: [0, 1],
  async run([workflow_type], values) {
    endWithReader();
    if (workflow_type !== undefined) mustFit('TYPE', WorkflowType, workflow_type);
    const http = createHttpClient(serverOf(values, process.env));
    const { items, next } = await http(listDead, { query: { workflow_type, limit: PAGE } });
    if (values.json) print(items.map(jsonLine).join(''));
    else if (items.length === 0) say('there are no dead letters');
    else print(tableText(columns(Date.now()), items, paper()));
    if (next !== null) say(`there are more than these ${PAGE}: name a TYPE`);
    return EXIT.ok;
  },
};

function columns(now: number): Column<DeadLetter>[] {
  return [
    {
      title: 'TYPE',
      text: ({ workflow_type, step }) => (step ? `${workflow_type}.${step}` : workflow_type),
      shrinks: true,
    },
    { title: 'ID', text: ({ run_id }) => run_id },
    { title: 'TRIES', text: ({ tries, max_attempts }) => `${tries}/${max_attempts}` },
    { title: 'FAILED', text: ({ failed_at }) => ageText(now - Date.parse(failed_at)) },
    { title: 'ERROR', text: ({ error }) => error ?? '', shrinks: true },
  ];
}
