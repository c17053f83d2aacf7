// Sessions: what a browser shows in place of the token that it was given once.
import type { Role } from '../contract/session.ts';
import type { Queryable } from '../db/pool.ts';

/** How long a session lasts, in seconds: a week. */
export const SESSION_SECS = 7 * 86_400;
/** There are no more than this: the oldest go. */
const MOST = 1_000;

// The lock waits for a change of the token that is under way, and then finds it gone.
const BEGIN = `
insert into wfg_sessions (hash, token_hash, expires_at)
select $1::bytea, t.hash, wfg_now() + make_interval(secs => $3::int)
from wfg_tokens t where t.hash = $2::bytea and t.revoked_at is null
for key share`;

/** Begins a session of this hash for the holder of a token; false when there is no such token. */
export async function beginSession(db: Queryable, hash: Buffer, tokenHash: Buffer): Promise<boolean> {
  const { rowCount } = await db.query(BEGIN, [hash, tokenHash, SESSION_SECS]);
  return rowCount === 1;
}

const PRUNE = `
delete from wfg_sessions
where expires_at < wfg_now() or token_hash is null
   or hash in (select hash from wfg_sessions order by created_at desc offset $1::int)`;

/** Removes those that have ended, and the oldest of too many. */
export async function pruneSessions(db: Queryable): Promise<void> {
  await db.query(PRUNE, [MOST]);
}

const FIND = `
select t.role from wfg_sessions s join wfg_tokens t on t.hash = s.token_hash
where s.hash = $1::bytea and s.expires_at > wfg_now() and t.revoked_at is null`;

/** What the session of this hash gives the right to; null when there is none that goes on. */
export async function findSession(db: Queryable, hash: Buffer): Promise<Role | null> {
  const { rows } = await db.query<{ role: Role }>(FIND, [hash]);
  return rows[0]?.role ?? null;
}

/** Ends the session; false when there is none. */
export async function endSession(db: Queryable, hash: Buffer): Promise<boolean> {
  const { rowCount } = await db.query('delete from wfg_sessions where hash = $1::bytea', [hash]);
  return rowCount === 1;
}
