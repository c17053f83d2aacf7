// Carries out operations: the requeue of many dead letters, in short transactions.
import type { Doorbell } from '@wfg/shared/db/doorbell';
import { finishOperation, findOpenOperations, requeueBatch } from '@wfg/shared/queries/operations';
import { withPartitions } from '@wfg/shared/queries/partitions';
import { inTurn } from '@wfg/shared/runtime/in-turn';
import type pg from 'pg';
import type { Logger } from 'pino';

const BATCH = 500;
/** Behind every run. */
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Works on every open operation once, as far as nobody else holds what it is about, whatever another fails of; what is left
 * is gone on with when the sentinel says so, within a second.
 */
export async function workOperations(
  pool: pg.Pool,
  doorbell: Doorbell,
  log: Logger,
  stopping: AbortSignal,
): Promise<void> {
  const ids = await findOpenOperations(pool);
  await inTurn(ids.map((id) => () => work(id)));

  async function work(id: string): Promise<void> {
    for (let after = LAST; !stopping.aborted; ) {
      const { last, found, lanes } = await withPartitions(pool, () => requeueBatch(pool, id, after, BATCH));
      if (Object.keys(lanes).length > 0) doorbell.ring({ lanes });
      if (found > 0) log.info({ operation_id: id, found }, 'dead letters requeued');
      if (last === null || found < BATCH) break;
      after = last;
    }
    await finishOperation(pool, id);
  }
}
