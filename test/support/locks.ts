// Which statements wait for somebody else's locks.
import type { Pool, PoolClient } from 'pg';
import { waitFor } from './wait-for.ts';

export interface Stuck<T> {
  /** Resolves when it has got its locks and its transaction is committed. */
  done: Promise<T>;
}

const WAITS = 'select from pg_locks where pid = $1 and not granted';

/** Begins a transaction on this connection and returns when it waits for a lock that another one holds. */
export async function getStuck<T>(pool: Pool, client: PoolClient, work: () => Promise<T>): Promise<Stuck<T>> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const done = committed(client, work);
  // Whoever awaits it is told.
  done.catch(() => {});
  await waitFor('it to wait for a lock', async () => (await pool.query(WAITS, [rows[0]?.pid])).rowCount);
  return { done };
}

async function committed<T>(client: PoolClient, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  const answer = await work();
  await client.query('commit');
  return answer;
}
