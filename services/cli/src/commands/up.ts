// wfg up: all services on one machine.
import type { Command } from '../command.ts';
import { EXIT } from '../exit-error.ts';
import { runUp } from '../up/run-up.ts';

export const up: Command = {
  usage: '[--json]',
  summary: 'start wfg here: database, api, scheduler, reaper and two workers, until Ctrl-C',
  details: [
    'Without DATABASE_URL it runs a PostgreSQL of its own, whose data is in WFG_DATA_DIR (./.wfg).',
    'PORT is 3000, or the next free one unless you set it. --json passes the log lines on as they are.',
  ].join('\n'),
  options: { json: { type: 'boolean' } },
  arity: [0, 0],
  async run(_args, values) {
    await runUp(process.env, values.json === true);
    return EXIT.ok;
  },
};
