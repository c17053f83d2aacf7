// Daily partitions, made by whoever needs one first.
import { expect, test } from 'vitest';
import { testDatabase } from '../../support/postgres.ts';

const MAKE = `select wfg_ensure_partitions('2040-01-01', '2040-01-01') as made`;

test('who waits for another one that makes a partition finds it made', async () => {
  await using db = await testDatabase();
  const [first, second] = [await db.pool.connect(), await db.pool.connect()];
  try {
    // It has looked for the partition, and its transaction has begun, before the other one makes it.
    await second.query(`select to_regclass('wfg_logs_20400101')`);
    await second.query('begin');
    await first.query('begin');
    expect((await first.query(MAKE)).rows).toEqual([{ made: 3 }]);
    const waiting = second.query(MAKE);
    await first.query('commit');
    expect((await waiting).rows).toEqual([{ made: 0 }]);
  } finally {
    await second.query('rollback');
    first.release();
    second.release();
  }
});

test('it is made beside its table, whatever schema comes first', async () => {
  await using db = await testDatabase();
  const client = await db.pool.connect();
  try {
    await client.query('begin; create schema other; set local search_path = other, public');
    await client.query(MAKE);
    const { rows } = await client.query(`select relnamespace::regnamespace::text as home from pg_class
      where relname = 'wfg_logs_20400101'`);
    expect(rows).toEqual([{ home: 'public' }]);
  } finally {
    await client.query('rollback');
    client.release();
  }
});
