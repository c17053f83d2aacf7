// Tokens, known by their SHA-256 alone: finding one by its hash takes no longer for a nearly right token.
import type { Role } from '../contract/session.ts';
import type { Queryable } from '../db/pool.ts';

/** The name of the token that the configuration sets. */
const CONFIGURED = 'WFG_ADMIN_TOKEN';

// The same token again changes nothing: one that was revoked stays so when an api is started again.
const PUT = `
insert into wfg_tokens as t (name, role, hash) values ($1::text, 'admin', $2::bytea)
on conflict (name) do update
set hash = excluded.hash, created_at = wfg_now(), last_used_at = null, revoked_at = null
where t.hash <> excluded.hash`;

/** Makes it the configured token, in place of the one before, whose sessions end; true unless it was so already. */
export async function putConfiguredToken(db: Queryable, hash: Buffer): Promise<boolean> {
  const { rowCount } = await db.query(PUT, [CONFIGURED, hash]);
  return rowCount === 1;
}

/** Forgets the configured token and its sessions; false when there is none. */
export async function dropConfiguredToken(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query('delete from wfg_tokens where name = $1::text', [CONFIGURED]);
  return rowCount === 1;
}

/** Whether there is a token at all, also a revoked one. */
export async function hasTokens(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>('select exists (select from wfg_tokens) as found');
  return rows[0]?.found === true;
}

const FIND = `
with found as (
  select id, role, last_used_at from wfg_tokens where hash = $1::bytea and revoked_at is null
), used as (
  update wfg_tokens t set last_used_at = wfg_now() from found
  where t.id = found.id and coalesce(found.last_used_at < wfg_now() - interval '1 minute', true)
)
select role from found`;

/** What the token of this hash gives the right to, and notes its use; null when there is none. */
export async function useToken(db: Queryable, hash: Buffer): Promise<Role | null> {
  const { rows } = await db.query<{ role: Role }>(FIND, [hash]);
  return rows[0]?.role ?? null;
}
