// How a service begins its work: with a pool on a database whose schema is there.
import type pg from 'pg';
import { assertSchema } from '../db/assert-schema.ts';
import { createPool, type PoolSettings } from '../db/pool.ts';
import type { Start } from './run-service.ts';

/**
 * Creates the pool, which ends with `stack`, and waits until the database is there with all migrations applied, telling
 * why. Throws as assertSchema does, and when `stopping` is aborted meanwhile.
 */
export async function servicePool(
  stack: AsyncDisposableStack,
  settings: PoolSettings,
  { stopping, onWait }: Pick<Start<unknown>, 'stopping' | 'onWait'>,
): Promise<pg.Pool> {
  const pool = createPool(settings);
  stack.defer(() => pool.end());
  await assertSchema(pool, { signal: stopping, onWait });
  return pool;
}
