// Migrations, as the commands that apply them need it: what fails has an exit code.
import { migrate } from '@wfg/shared/db/migrate';
import { isConnectionError } from '@wfg/shared/db/sqlstate';
import { messageOf } from '@wfg/shared/rules/message-of';
import type { Logger } from 'pino';
import { EXIT, ExitError } from './exit-error.ts';

/** Returns the names of the migrations that this call applied. */
export async function migrateDatabase(url: string, log: Logger): Promise<string[]> {
  try {
    return await migrate(url, log);
  } catch (err) {
    const cause = err instanceof Error ? (err.cause ?? err) : err;
    const exitCode = isConnectionError(cause) ? EXIT.unreachable : EXIT.failed;
    throw new ExitError(exitCode, messageOf(err), { cause: err });
  }
}
