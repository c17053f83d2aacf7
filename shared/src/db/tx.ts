// Transactions: read committed, bounded in time on the server too, repeated after a deadlock.

import { setTimeout as sleep } from 'node:timers/promises';
import { Pool, type PoolClient } from 'pg';
import { jitter } from '../rules/pause.ts';
import type { Queryable } from './pool.ts';
import { errorCode, isConnectionError, SQLSTATE } from './sqlstate.ts';

const MAX_TRIES = 4;
const RETRY_MS = 50;
const DEFAULT_LIMIT_MS = 8_000;
/** Of the client's limit: the server says first what was too slow, and the client knows that it is no lost connection. */
const SERVER_SHARE = 0.8;

interface TxSettings {
  /** How long a statement may wait for a lock, in milliseconds, before it fails with 55P03; by default as long as for all. */
  lockMs?: number;
}

/**
 * Runs `fn` in a transaction and returns its result. After a deadlock or a serialization failure the whole
 * of `fn` runs again, at most three more times, so it must have no effect outside the transaction.
 * If the connection is lost during the commit the outcome is unknown: that error is passed on.
 */
export async function withTx<T>(
  pool: Pool,
  fn: (tx: PoolClient) => Promise<T>,
  settings: TxSettings = {},
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(pool, fn, settings);
    } catch (err) {
      const code = errorCode(err);
      const conflict = code === SQLSTATE.deadlockDetected || code === SQLSTATE.serializationFailure;
      if (!conflict || tries === MAX_TRIES) throw err;
      await sleep(jitter(RETRY_MS * tries));
    }
  }
}

/** Runs `fn` in the transaction that `db` is in, or, of a pool, in one of its own. */
export async function joinTx<T>(db: Queryable, fn: (tx: PoolClient) => Promise<T>): Promise<T> {
  return db instanceof Pool ? withTx(db, fn) : fn(db);
}

async function attempt<T>(
  pool: Pool,
  fn: (tx: PoolClient) => Promise<T>,
  { lockMs = 0 }: TxSettings,
): Promise<T> {
  const limitMs = Math.ceil((pool.options.query_timeout ?? DEFAULT_LIMIT_MS) * SERVER_SHARE);
  const tx = await pool.connect();
  try {
    await tx.query(begin(limitMs, lockMs));
    const result = await fn(tx);
    const { command } = await tx.query('commit');
    // PostgreSQL answers ROLLBACK, without an error, if a failed statement was caught inside `fn`.
    if (command !== 'COMMIT') throw new Error('transaction rolled back: a statement in it had failed');
    tx.release();
    return result;
  } catch (err) {
    tx.release(!(await rolledBack(tx, err)));
    throw err;
  }
}

/**
 * One round trip, and allowed through a transaction pooler. The limits end what a process that is stopped
 * or cut off has left open: its locks would hold up everyone else until the network gives up, hours later.
 * Compiling a plan takes seconds where the recursion of a cascade is overestimated; running it, milliseconds.
 */
function begin(limitMs: number, lockMs: number): string {
  return `begin isolation level read committed;
    set local jit = off;
    set local statement_timeout = ${limitMs};
    set local lock_timeout = ${lockMs};
    set local idle_in_transaction_session_timeout = ${limitMs}`;
}

/** False if the connection cannot be used any more and is to be closed. */
async function rolledBack(tx: PoolClient, err: unknown): Promise<boolean> {
  if (isConnectionError(err)) return false;
  try {
    await tx.query('rollback');
    return true;
  } catch {
    return false;
  }
}
