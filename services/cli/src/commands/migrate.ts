// wfg migrate: brings the schema of a database up to date.
import { configFields } from '@wfg/shared/runtime/config-fields';
import { parseEnv } from '@wfg/shared/runtime/env';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-error.ts';
import { lineLogger } from '../line-logger.ts';
import { migrateDatabase } from '../migrate-database.ts';
import { print, say } from '../output.ts';
import { readServiceLine } from '../service-line.ts';
import { jsonLine } from '../terminal-safe.ts';

export const migrate: Command = {
  usage: '[--json]',
  summary: 'bring the schema of the database at DATABASE_URL up to date',
  details: 'Safe at any time and from any number of processes at once. "wfg up" does it by itself.',
  options: { json: { type: 'boolean' } },
  arity: [0, 0],
  async run(_args, values) {
    const { DATABASE_URL: url } = parseEnv(configFields.pick({ DATABASE_URL: true }), process.env);
    // What it does is on stdout as it is done; what it waits for is a remark on stderr.
    const log = lineLogger('info', (line) => {
      const { text, msg, fields } = readServiceLine(line);
      if (msg !== 'migration applied') say(text);
      else if (!values.json) print(`applied ${String(fields.migration)}\n`);
    });
    const applied = await migrateDatabase(url, log);
    if (values.json) print(jsonLine({ applied }));
    else if (applied.length === 0) print('the schema is up to date\n');
    return EXIT.ok;
  },
};
