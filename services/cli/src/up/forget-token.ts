// Of a database that only one `wfg up` uses, the environment alone says whether a token is asked for: leaving
// WFG_ADMIN_TOKEN out undoes what setting it did. In a shared one a token stays, whoever starts without it.
import { createPool } from '@wfg/shared/db/pool';
import { dropConfiguredToken } from '@wfg/shared/queries/tokens';
import type { Logger } from 'pino';

export async function forgetToken(url: string, log: Logger): Promise<void> {
  const pool = createPool({ url, name: 'up', max: 1, log });
  try {
    if (await dropConfiguredToken(pool))
      log.info('WFG_ADMIN_TOKEN is not set any more: no token is asked for');
  } finally {
    await pool.end();
  }
}
