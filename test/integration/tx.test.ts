// Transactions and the pool: what happens at a deadlock, a lost connection, a process that stalls.

import type { Pool } from 'pg';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { createPool } from '@wfg/shared/db/pool';
import { errorCode, isConnectionError, SQLSTATE } from '@wfg/shared/db/sqlstate';
import { withTx } from '@wfg/shared/db/tx';
import { testDatabase } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

const log = pino({ level: 'silent' });

async function withTable({ pool }: { pool: Pool }): Promise<void> {
  await pool.query('create table t (id int primary key, n int not null)');
  await pool.query('insert into t values (1, 0), (2, 0)');
}

async function numbers(pool: Pool): Promise<number[]> {
  const { rows } = await pool.query<{ n: number }>('select n from t order by id');
  return rows.map(({ n }) => n);
}

test('a transaction commits as a whole, or leaves nothing', async () => {
  await using database = await testDatabase({ empty: true });
  await withTable(database);
  const { pool } = database;
  expect(await withTx(pool, async (tx) => (await tx.query('update t set n = 1')).rowCount)).toBe(2);
  const failing = withTx(pool, async (tx) => {
    await tx.query('update t set n = 2');
    throw new Error('changed my mind');
  });
  await expect(failing).rejects.toThrow('changed my mind');
  expect(await numbers(pool)).toEqual([1, 1]);
  expect(pool.idleCount).toBe(pool.totalCount);
});

test('of two that deadlock one runs again, and both commit', async () => {
  await using database = await testDatabase({ empty: true });
  await withTable(database);
  let runs = 0;
  let ready = 0;
  const cross = (first: number, second: number) =>
    withTx(database.pool, async (tx) => {
      runs++;
      await tx.query('update t set n = n + 1 where id = $1', [first]);
      ready++;
      await vi.waitUntil(() => ready >= 2);
      await tx.query('update t set n = n + 1 where id = $1', [second]);
    });
  await Promise.all([cross(1, 2), cross(2, 1)]);
  expect(runs).toBe(3);
  expect(await numbers(database.pool)).toEqual([2, 2]);
});

test('what keeps conflicting is given up after the third repetition', async () => {
  await using database = await testDatabase({ empty: true });
  let runs = 0;
  const conflict = withTx(database.pool, async (tx) => {
    runs++;
    await tx.query(`do $$ begin raise exception 'conflict' using errcode = '40001'; end $$`);
  });
  await expect(conflict).rejects.toMatchObject({ code: SQLSTATE.serializationFailure });
  expect(runs).toBe(4);
});

test('a failed statement that was caught does not end in a commit that is none', async () => {
  await using database = await testDatabase({ empty: true });
  await withTable(database);
  const swallowed = withTx(database.pool, async (tx) => {
    await tx.query('update t set n = 7');
    await tx.query('select 1 / 0').catch(() => undefined);
  });
  await expect(swallowed).rejects.toThrow('rolled back');
  expect(await numbers(database.pool)).toEqual([0, 0]);
});

test('a connection lost inside a transaction fails that one only', async () => {
  await using database = await testDatabase({ empty: true });
  await withTable(database);
  await using proxy = await TcpProxy.start(database.url);
  const pool = createPool({ url: proxy.url, name: 'test', log });
  const cut = withTx(pool, async (tx) => {
    await tx.query('update t set n = 7');
    const ended = new Promise<void>((resolve) => tx.on('end', resolve));
    proxy.cut();
    await ended;
    await tx.query('update t set n = 8');
  });
  await expect(cut).rejects.toSatisfy(isConnectionError);
  expect(await numbers(pool)).toEqual([0, 0]);
  await pool.end();
});

test('on a network that was cut a query fails in bounded time, and the next ones work when it is back', async () => {
  await using database = await testDatabase({ empty: true });
  await using proxy = await TcpProxy.start(database.url);
  const pool = createPool({ url: proxy.url, name: 'test', queryTimeoutMs: 300, log });
  await pool.query('select 1');
  proxy.stall();
  await expect(pool.query('select 1')).rejects.toSatisfy(isConnectionError);
  await expect(withTx(pool, (tx) => tx.query('select 1'))).rejects.toSatisfy(isConnectionError);
  proxy.unstall();
  await expect(pool.query('select 1 as one')).resolves.toMatchObject({ rows: [{ one: 1 }] });
  await pool.end();
});

test('a statement that took too long ends on the server too, however long it would wait', async () => {
  await using database = await testDatabase({ empty: true });
  await withTable(database);
  const pool = createPool({ url: database.url, name: 'late', queryTimeoutMs: 300, log });
  const locker = await database.pool.connect();
  await locker.query('begin; lock table t in access exclusive mode');
  try {
    for (let time = 0; time < 3; time++)
      await expect(pool.query('select from t')).rejects.toSatisfy(isConnectionError);
    await vi.waitFor(async () => {
      const left = await database.pool.query(
        `select from pg_stat_activity where application_name = 'wfg-late' and state = 'active'`,
      );
      expect(left.rowCount).toBe(0);
    }, 5_000);
  } finally {
    await locker.query('rollback');
    locker.release();
    await pool.end();
  }
});

test('a process that stalls inside a transaction loses its locks', async () => {
  await using database = await testDatabase({ empty: true });
  await withTable(database);
  const pool = createPool({ url: database.url, name: 'test', queryTimeoutMs: 200, log });
  const stalled = withTx(pool, async (tx) => {
    await tx.query('update t set n = 7');
    await vi.waitUntil(
      async () => {
        const free = await database.pool.query('select from t for update skip locked');
        return free.rowCount === 2;
      },
      { timeout: 4_000 },
    );
    await tx.query('select 1');
  });
  await expect(stalled).rejects.toSatisfy(isConnectionError);
  expect(await numbers(database.pool)).toEqual([0, 0]);
  await pool.end();
});

test('a pool is named, and reads bigints as numbers or not at all', async () => {
  await using database = await testDatabase({ empty: true });
  const pool = createPool({ url: database.url, name: 'test', log });
  const { rows } = await pool.query(`select current_setting('application_name') as name, 2::bigint ^ 0 as f,
    9007199254740991 as big, 9223372036854775807::text as lane`);
  expect(rows).toEqual([
    { name: 'wfg-test', f: 1, big: Number.MAX_SAFE_INTEGER, lane: '9223372036854775807' },
  ]);
  await expect(pool.query('select 9007199254740993 as big')).rejects.toThrow('select it as text');
  await expect(pool.query('select nonsense')).rejects.toSatisfy((err) => errorCode(err) === '42703');
  await pool.end();
});
