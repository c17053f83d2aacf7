// Takes all connections that a server has to give, as a program does that leaks them, and keeps them.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type Pool } from 'pg';
import { waitFor } from './wait-for.ts';

/** How many ask at once: what becomes free is taken before others have it. */
const ASKING = 10;
const ASK_AGAIN_MS = 100;

const END_OTHERS = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where usename = current_user and application_name like 'wfg-%' and application_name <> 'wfg-test'`;

/**
 * Resolves when wfg has none left, besides those of `pool`, and can have none; disposal gives all back. The role of `url`
 * must be no superuser, for which some are kept.
 */
export async function takeConnections(url: string, pool: Pool): Promise<AsyncDisposable> {
  const held: Client[] = [];
  const over = new AbortController();
  /** One after another. */
  let refusals = 0;

  async function hold(): Promise<void> {
    while (!over.signal.aborted) {
      const client = new Client({ connectionString: url, application_name: 'taker' });
      client.on('error', () => undefined);
      const isIn = await client.connect().then(
        () => true,
        () => false,
      );
      refusals = isIn ? 0 : refusals + 1;
      if (isIn) held.push(client);
      else await sleep(ASK_AGAIN_MS);
    }
  }

  const asking = Array.from({ length: ASKING }, hold);
  await waitFor('all to be taken', async () => {
    const { rowCount } = await pool.query(END_OTHERS);
    if (rowCount !== 0) refusals = 0;
    // Each has asked since the last was ended.
    return refusals > 2 * ASKING;
  });
  return {
    async [Symbol.asyncDispose]() {
      over.abort();
      await Promise.all(asking);
      await Promise.all(held.map((client) => client.end()));
    },
  };
}
