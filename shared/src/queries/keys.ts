// Keys: what was made with one is found by it, and not made again.
import { createHash } from 'node:crypto';
import { canonicalJson } from '../contract/json.ts';
import { WfgError } from '../contract/problem.ts';
import type { PoolClient } from 'pg';
import { errorCode, SQLSTATE } from '../db/sqlstate.ts';
import type { Queryable } from '../db/pool.ts';

/** How long a twin that is still being worked on is waited for. */
const TWIN_LIMIT = `set local lock_timeout = '5s'`;

export interface Key {
  /** Method and path of the route. */
  scope: string;
  key: string;
  body: unknown;
}

/** What a key was used for. */
export interface Kept {
  /** The id of what was made. */
  subject: string;
  /** Of the first answer. */
  status: number;
}

const TAKE = `
select held.subject, held.status, held.body_hash = $3::bytea as same
from wfg_take_key($1::text, $2::text, $3::bytea, null) held`;

/**
 * Takes the key for what the transaction is going to make: null, or what was made with it.
 *
 * @throws {WfgError} key_reused, when that was something else; key_in_use, when that is not known yet.
 */
export async function takeKey(tx: PoolClient, { scope, key, body }: Key): Promise<Kept | null> {
  const { rows } = await inTurn(tx, () => tx.query<Held>(TAKE, [scope, key, hashOf(body)]));
  return keptOf(rows[0]);
}

const FIND = `
select k.subject, k.status, k.body_hash = $3::bytea as same
from wfg_keys k where k.scope = $1::text and k.key = $2::text and wfg_key_holds(k)`;

/**
 * What was made with the key, if anything was; does not take it.
 *
 * @throws {WfgError} key_reused, when that was something else.
 */
export async function findKey(db: Queryable, { scope, key, body }: Key): Promise<Kept | null> {
  const { rows } = await db.query<Held>(FIND, [scope, key, hashOf(body)]);
  return keptOf(rows[0]);
}

type Held = (Kept & { same: boolean }) | { subject: null };

function keptOf(held: Held | undefined): Kept | null {
  if (!held || held.subject === null) return null;
  if (held.same) return held;
  throw new WfgError(
    'key_reused',
    'the Idempotency-Key came with another body before: send that one, or take a new key',
  );
}

function hashOf(body: unknown): Buffer {
  return createHash('sha256').update(canonicalJson(body)).digest();
}

const KEEP =
  'update wfg_keys set subject = $3::text, status = $4::int where scope = $1::text and key = $2::text';

/** Notes what was made with a key that the transaction has taken. */
export async function keepKey(tx: PoolClient, { scope, key }: Key, { subject, status }: Kept): Promise<void> {
  await tx.query(KEEP, [scope, key, subject, status]);
}

/** Gives a key back that the transaction has taken: nothing was made. */
export async function dropKey(tx: PoolClient, { scope, key }: Key): Promise<void> {
  await tx.query('delete from wfg_keys where scope = $1::text and key = $2::text', [scope, key]);
}

const TAKE_UNIQUE = `
select made.id, held.subject
from (select wfg_uuid7()::text as id offset 0) made
cross join lateral wfg_take_key('unique ' || $1::text, $2::text, null, made.id,
  wfg_now() + make_interval(secs => $3::int), $3::int is null) held`;

/** Among events of one type. */
export interface UniqueKey {
  workflow_type: string;
  key: string;
  /** How long from now it holds; null: until its event has completed, or was cancelled or discarded. */
  secs: number | null;
}

/**
 * Takes the key for an event that the transaction is going to store: its id, or that of the event that has the key.
 *
 * @throws {WfgError} key_in_use.
 */
export async function takeUniqueKey(
  tx: PoolClient,
  { workflow_type, key, secs }: UniqueKey,
): Promise<{ id: string; is_new: boolean }> {
  const { rows } = await inTurn(tx, () =>
    tx.query<{ id: string; subject: string | null }>(TAKE_UNIQUE, [workflow_type, key, secs]),
  );
  const [row] = rows;
  if (!row) throw new Error('taking a key returned no row');
  return { id: row.subject ?? row.id, is_new: row.subject === null };
}

async function inTurn<T>(tx: PoolClient, take: () => Promise<T>): Promise<T> {
  await tx.query(TWIN_LIMIT);
  try {
    return await take();
  } catch (error) {
    if (errorCode(error) !== SQLSTATE.lockNotAvailable) throw error;
    throw new WfgError(
      'key_in_use',
      'a request with the same key is still being worked on: repeat this later',
    );
  }
}

/** Removes up to `limit` keys that do not hold any more; returns how many were looked at. */
export async function pruneKeys(db: Queryable, limit: number): Promise<number> {
  const { rows } = await db.query<{ seen: number }>('select wfg_prune_keys($1::int) as seen', [limit]);
  return rows[0]?.seen ?? 0;
}
