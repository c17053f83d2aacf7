// The connection pool of a process. DATABASE_URL may lead through a transaction pooler, so nothing here
// relies on session state or on startup options.

import { Client, type ClientConfig, Pool, type PoolClient, TypeOverrides, types } from 'pg';
import type { Logger } from 'pino';
import { parseJson } from '../contract/json.ts';
import { cancelStatement } from './cancel-statement.ts';

export type Queryable = Pool | PoolClient;

/** Long enough for a handshake in a process that is busy: its timers come before its sockets. */
const CONNECT_TIMEOUT_MS = 5_000;
/** How long a statement waits for a connection while all are busy: a burst is served, not refused. */
const TURN_TIMEOUT_MS = 20_000;

/** What pg says of an answer that did not come in time. */
const READ_TIMEOUT = 'Query read timeout';

/** pg-pool has one setting for both waits; a connection that does not come about is given up sooner. */
class ImpatientClient extends Client {
  constructor(config?: ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  }
}

export interface PoolSettings {
  url: string;
  /** Shown in pg_stat_activity as `wfg-<name>`. */
  name: string;
  /** Most connections at once. */
  max?: number;
  /**
   * How long an answer may take, in milliseconds, before the connection is taken for dead. By default so long that who
   * had only connections which the network has forgotten works again within 10 s.
   */
  queryTimeoutMs?: number;
  /**
   * How long a connection that nobody uses is kept, in milliseconds; 0: for ever. By default less than an answer may take:
   * when one was found dead, none is left that died with it.
   */
  idleTimeoutMs?: number;
  log: Logger;
}

/**
 * Creates a pool; it connects when first used. All timeouts are needed: without them a query on a
 * network that was cut waits for ever. A lost connection is logged, and fails only what was using it.
 */
export function createPool({
  url,
  name,
  max = 4,
  queryTimeoutMs = 8_000,
  idleTimeoutMs = 6_000,
  log,
}: PoolSettings): Pool {
  const pool = new Pool({
    Client: ImpatientClient,
    connectionString: url,
    application_name: `wfg-${name}`,
    max,
    connectionTimeoutMillis: TURN_TIMEOUT_MS,
    query_timeout: queryTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    keepAlive: true,
    types: parsers,
  });
  const lost = (err: Error) => log.debug({ err }, 'database connection lost');
  pool.on('error', lost);
  // pg-pool listens for errors of idle clients only: one lost between two queries would end the process.
  pool.on('connect', (client) => client.on('error', lost));
  pool.on('release', (err, client) => {
    if (err instanceof Error && err.message === READ_TIMEOUT && client instanceof Client)
      cancelStatement(client);
  });
  return pool;
}

const parsers = new TypeOverrides();
parsers.setTypeParser(types.builtins.INT8, parseBigint);
parsers.setTypeParser(types.builtins.JSON, parseJson);

/** Counts and positions become numbers; a 64-bit hash does not fit one and must be selected `::text`. */
function parseBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} exceeds 2^53: select it as text`);
  return value;
}
