// How a service begins its work: with a pool on a database whose schema is there.
import type pg from 'pg';
import { assertSchema } from '../db/assert-schema.ts';
import { createPool, type PoolSettings } from '../db/pool.ts';

/**
 * Creates the pool, which ends with `stack`, and waits until all migrations are applied. Throws as assertSchema does,
 * and when `stopping` is aborted meanwhile.
 */
export async function servicePool(
  stack: AsyncDisposableStack,
  settings: PoolSettings,
  stopping: AbortSignal,
): Promise<pg.Pool> {
  const pool = createPool(settings);
  stack.defer(() => pool.end());
  await assertSchema(pool, { signal: stopping });
  return pool;
}
