// A worker that looks by itself says so, and then nobody rings for it; what is enqueued meanwhile is begun all the same.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { listener } from '../../support/ear.ts';
import { eventWhen, isCompleted } from '../../support/events.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { valueOf } from '../../support/sql.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startHandlerWorker } from '../../support/worker.ts';

const WAIT = ':event test.wait';
const PRINT = ':event test.print';

async function workerIs(db: TestDatabase, what: string, condition: string): Promise<void> {
  await waitFor(what, async () => {
    const { rows } = await db.pool.query<{ is: boolean }>(`select ${condition} as is from wfg_workers`);
    return rows[0]?.is;
  });
}

const enqueue = (db: TestDatabase, type: string, payload: unknown = {}) =>
  valueOf(db.pool, 'wfg_enqueue($1, $2)', type, JSON.stringify(payload));

test('of a worker whose places are full it is known, and when one is free it takes what came meanwhile', async () => {
  await using db = await testDatabase();
  await using ear = await listener(db.url);
  await using _ = startHandlerWorker(db.url, { HANDLER_CONCURRENCY: '1' });
  await workerIs(db, 'it to offer them', `'${WAIT}' = any(offered)`);
  const gate = join(inject('runFolder'), `gate-${randomUUID()}`);
  const first = await enqueue(db, 'test.wait', { gate });
  await workerIs(db, 'it to be full', `'${WAIT}' = any(full_of)`);
  ear.bells.length = 0;
  const second = await enqueue(db, 'test.wait', { gate });
  writeFileSync(gate, '');
  for (const id of [first, second]) await eventWhen(db.pool, id, isCompleted);
  await workerIs(db, 'it to be free', `full_of = '{}'`);
  expect(ear.bells.filter(({ lanes }) => lanes)).toEqual([]);
  await eventWhen(db.pool, await enqueue(db, 'test.wait', { gate }), isCompleted);
  await waitFor('it to be rung for', () => ear.bells.some(({ lanes }) => lanes));
});

test('a worker that has much to do looks by itself, and for a while after that', async () => {
  await using db = await testDatabase();
  await using ear = await listener(db.url);
  await using _ = startHandlerWorker(db.url);
  await workerIs(db, 'it to offer them', `'${PRINT}' = any(offered)`);
  const hot = `'${PRINT}' = any(hot) and hot_until > now()`;
  const ids: string[] = [];
  await waitFor('it to be hot', async () => {
    ids.push(await enqueue(db, 'test.print'));
    return valueOf<boolean>(db.pool, `select ${hot} from wfg_workers`);
  });
  ear.bells.length = 0;
  // As long as it surely is.
  let quiet = 0;
  while (
    await valueOf<boolean>(
      db.pool,
      `select ${hot} and hot_until > now() + interval '100 ms' from wfg_workers`,
    )
  ) {
    ids.push(await enqueue(db, 'test.print'));
    if (++quiet === 20) break;
  }
  expect(quiet).toBeGreaterThan(0);
  for (const id of ids) await eventWhen(db.pool, id, isCompleted);
  expect(ear.bells.filter(({ lanes }) => lanes)).toEqual([]);
  await workerIs(db, 'it to be hot no more', `hot_until < now() - interval '3 seconds'`);
  await eventWhen(db.pool, await enqueue(db, 'test.print'), isCompleted);
  await waitFor('it to be rung for', () => ear.bells.some(({ lanes }) => lanes));
});
