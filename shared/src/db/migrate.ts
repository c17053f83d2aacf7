// Applies migrations: safe when many processes do so at once on an empty database, also through a pooler.
//
// Who applies the next file is decided by an advisory lock of a transaction, since a session's lock means
// nothing behind a transaction pooler. It is tried, never waited for: CREATE INDEX CONCURRENTLY waits for
// every open snapshot, so it and a process that waits for the lock inside a statement would wait for each
// other for ever.

import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import type { Logger } from 'pino';
import { messageOf } from '../rules/message-of.ts';
import { jitter } from '../rules/pause.ts';
import { adviceOf } from './advice.ts';
import { type Migration, readMigrations } from './migration-files.ts';
import { pendingMigrations, readHistory, SchemaError } from './migration-history.ts';
import { errorCode, SQLSTATE } from './sqlstate.ts';

const POLL_MS = 200;
/** Another process may be busy with one file for so long. */
const TURN_LIMIT_MS = 900_000;
/** How often a file is tried whose locks others hold; each try waits for `lock_timeout`. */
const MAX_TRIES = 20;

const BEGIN = `
  begin isolation level read committed;
  set local lock_timeout = '2s';
  set local statement_timeout = '10min';
  set local idle_in_transaction_session_timeout = 0`;

const TRY_LOCK = `
  select pg_try_advisory_xact_lock(hashtextextended('wfg_migrate ' || current_schema(), 0)) as mine`;

const CREATE_HISTORY = `
  create table if not exists wfg_migrations (
    name text primary key,
    sha256 text not null,
    breaking boolean not null,
    applied_at timestamptz not null default now()
  )`;

/**
 * Brings the schema at `url` up to date and returns the names of the migrations that this call applied.
 * Throws when the history does not fit (SchemaError), a migration fails, or its locks cannot be had.
 */
export async function migrate(url: string, log: Logger, folder?: string): Promise<string[]> {
  const known = await readMigrations(folder);
  const db = await connect(url);
  try {
    const applied: string[] = [];
    for (;;) {
      const [next] = pendingMigrations(known, await readHistory(db));
      if (next === undefined) return applied;
      if (await applyOne(db, url, next, known, log)) {
        log.info({ migration: next.name }, 'migration applied');
        applied.push(next.name);
      }
    }
  } finally {
    await db.end();
  }
}

/** Waits for our turn and applies the migration; false when another process did so meanwhile. */
async function applyOne(
  db: Client,
  url: string,
  migration: Migration,
  known: Migration[],
  log: Logger,
): Promise<boolean> {
  const deadline = Date.now() + TURN_LIMIT_MS;
  for (let tries = 0; ; ) {
    try {
      const outcome = await takeTurn(db, url, migration, known);
      if (outcome !== 'busy') return outcome === 'applied';
      if (Date.now() > deadline) throw new Error(`another process does not finish ${migration.name}: end it`);
      await sleep(jitter(POLL_MS));
    } catch (err) {
      await db.query('rollback').catch(() => {});
      const code = errorCode(err);
      if (code !== SQLSTATE.lockNotAvailable && code !== SQLSTATE.deadlockDetected)
        throw explained(err, migration);
      if (++tries === MAX_TRIES) throw explained(err, migration);
      log.info({ migration: migration.name }, 'waiting: others hold locks that the migration needs');
      await sleep(jitter(POLL_MS * tries));
    }
  }
}

async function takeTurn(
  db: Client,
  url: string,
  migration: Migration,
  known: Migration[],
): Promise<'applied' | 'overtaken' | 'busy'> {
  await db.query(BEGIN);
  const lock = await db.query<{ mine: boolean }>(TRY_LOCK);
  if (!lock.rows[0]?.mine) {
    await db.query('rollback');
    return 'busy';
  }
  const [next] = pendingMigrations(known, await readHistory(db));
  if (next?.name !== migration.name) {
    await db.query('rollback');
    return 'overtaken';
  }
  await db.query(CREATE_HISTORY);
  if (migration.transactional) await db.query(migration.sql);
  else await runOneByOne(url, migration);
  await db.query('insert into wfg_migrations (name, sha256, breaking) values ($1, $2, $3)', [
    migration.name,
    migration.sha256,
    migration.breaking,
  ]);
  await db.query('commit');
  return 'applied';
}

/**
 * On a second connection: the first one's open transaction keeps others out. A statement ends where a line
 * does.
 */
async function runOneByOne(url: string, migration: Migration): Promise<void> {
  const db = await connect(url);
  try {
    for (const statement of migration.sql.split(/(?<=;)[ \t]*\n/)) {
      if (statement.replaceAll(/^\s*--.*$/gm, '').trim() !== '') await db.query(statement);
    }
  } finally {
    await db.end();
  }
}

async function connect(url: string): Promise<Client> {
  const db = new Client({
    connectionString: url,
    application_name: 'wfg-migrate',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // The query that is under way fails with the same error.
  db.on('error', () => {});
  try {
    await db.connect();
  } catch (err) {
    const advice = adviceOf(err) ?? 'check that it runs, and DATABASE_URL';
    throw new Error(`cannot reach the database: ${messageOf(err)} (${advice})`, { cause: err });
  }
  return db;
}

function explained(err: unknown, { name, sql, transactional }: Migration): unknown {
  if (err instanceof SchemaError || !(err instanceof DatabaseError)) return err;
  const before = transactional ? sql.slice(0, Number(err.position ?? 0)) : '';
  const place = before === '' ? '' : `, line ${before.split('\n').length}`;
  const advice = err.hint ?? ADVICE[err.code ?? ''];
  return new Error(`migration ${name}${place}: ${err.message}${advice ? ` (${advice})` : ''}`, {
    cause: err,
  });
}

const ADVICE: Record<string, string> = {
  '42501': 'grant the user create on the schema, or name a schema of its own in search_path',
  [SQLSTATE.lockNotAvailable]: 'end the long transactions on wfg tables, then migrate again',
};
