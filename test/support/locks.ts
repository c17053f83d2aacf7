// Locks that someone holds, and which statements wait for them.
import type { Pool, PoolClient } from 'pg';
import { waitFor } from './wait-for.ts';

export interface Stuck<T> {
  /** Resolves when it has got its locks and its transaction is committed. */
  done: Promise<T>;
}

const WAITS = 'select from pg_locks where pid = $1 and not granted';

/** Locks rows, as an open transaction does that was forgotten, until disposed of. */
export async function hold(pool: Pool, query: string, values: unknown[]): Promise<AsyncDisposable> {
  const holder = await pool.connect();
  await holder.query('begin');
  await holder.query(query, values);
  return {
    async [Symbol.asyncDispose]() {
      await holder.query('rollback');
      holder.release();
    },
  };
}

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
