// How soon what is inserted is begun.
import type { Pool } from 'pg';
import { waitFor } from './wait-for.ts';

/**
 * Milliseconds from an insert to the first attempt at it, by the database's clock, when it is done; `insert` returns the
 * `id` of something that completes.
 */
export async function pickupMs(pool: Pool, insert: string): Promise<number> {
  const inserted = await pool.query<{ id: string }>(insert);
  const { ms } = await waitFor('it to be done', async () => {
    const { rows } = await pool.query<{ ms: number }>(
      `select extract(epoch from begun_at - created_at)::float8 * 1000 as ms from wfg_history where run_id = $1`,
      [inserted.rows[0]?.id],
    );
    return rows[0];
  });
  return ms;
}
