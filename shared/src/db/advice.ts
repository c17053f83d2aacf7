// What to do about an error of the database, for whoever reads a log, /ready, or what a command prints.
import { messageOf } from '../rules/message-of.ts';
import { errorCode } from './sqlstate.ts';

const RUNNING = 'check that it runs, and DATABASE_URL';

const BY_CODE: Partial<Record<string, string>> = {
  '28000': 'check the user in DATABASE_URL',
  '28P01': 'check the user and the password in DATABASE_URL',
  '3D000': 'create it, or check DATABASE_URL',
  '42501': 'grant it to the user in DATABASE_URL',
  '53100': 'free space on its disk',
  '53300':
    'end connections, run fewer processes, or raise max_connections and the limits of database and user',
  ECONNREFUSED: RUNNING,
  ENOTFOUND: RUNNING,
  EHOSTUNREACH: RUNNING,
};

/** Without a code. */
const BY_MESSAGE: Partial<Record<string, string>> = {
  'timeout expired': RUNNING,
  'timeout exceeded when trying to connect':
    'all connections of this process are busy: pg_stat_activity shows what they wait for',
  'Query read timeout': 'pg_stat_activity shows what it waits for, if the database can be reached',
};

/** What to do about it; undefined where nothing better is known than what the error says. */
export function adviceOf(err: unknown): string | undefined {
  return BY_CODE[errorCode(err) ?? ''] ?? BY_MESSAGE[messageOf(err)];
}

/** The message of an error, and what to do about it. */
export function explained(err: unknown): string {
  const advice = adviceOf(err);
  return advice === undefined ? messageOf(err) : `${messageOf(err)} (${advice})`;
}
