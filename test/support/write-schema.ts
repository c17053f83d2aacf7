// npm run schema:dump: writes migrations/schema.sql from a new database with all migrations applied.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dumpSchema } from '@wfg/shared/db/dump-schema';
import { migrate } from '@wfg/shared/db/migrate';
import { MIGRATIONS } from '@wfg/shared/db/migration-files';
import { startEmbeddedPostgres } from '@wfg/shared/runtime/embedded-postgres';
import { pino } from 'pino';
import { asAdmin } from './admin.ts';

const log = pino({ level: 'warn' });
const server = await startEmbeddedPostgres({ throwaway: true, log, programs: process.env.PG_BIN });
try {
  await migrate(server.url, log);
  await writeFile(join(MIGRATIONS, 'schema.sql'), await asAdmin(server.url, dumpSchema));
} finally {
  await server.stop();
}
