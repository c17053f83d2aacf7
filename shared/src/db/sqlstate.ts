// The errors of PostgreSQL and of the connection to it that code branches on, by name.

export const SQLSTATE = {
  noSuchDatabase: '3D000',
  uniqueViolation: '23505',
  checkViolation: '23514',
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  undefinedTable: '42P01',
  statementTooComplex: '54001',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
} as const;

/** Connection exceptions (08), too many connections, idle in transaction too long, server shutting down. */
const AWAY_SQLSTATE = /^(08...|53300|25P03|57P0[1-5])$/;

const AWAY_SOCKET =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENETDOWN|ENOENT)$/;

/** pg gives these no code; "timeout exceeded" is also said when all connections of the pool stay busy. */
const AWAY_MESSAGE =
  /^(Connection terminated|Connection ended|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client (has encountered a connection error|was closed) and is not queryable)/;

/** The SQLSTATE, or another code such as ECONNREFUSED, of an error; undefined if it has none. */
export function errorCode(err: unknown): string | undefined {
  if (!(err instanceof Error) || !('code' in err)) return undefined;
  return typeof err.code === 'string' ? err.code : undefined;
}

/** True if the database could not be reached or the connection was lost: worth trying again later. */
export function isConnectionError(err: unknown): boolean {
  const code = errorCode(err);
  if (code !== undefined) return AWAY_SQLSTATE.test(code) || (AWAY_SOCKET.test(code) && isSocketError(err));
  return err instanceof Error && AWAY_MESSAGE.test(err.message);
}

const TIME_LIMIT: ReadonlySet<string | undefined> = new Set([
  SQLSTATE.lockNotAvailable,
  SQLSTATE.queryCanceled,
]);

/** What PostgreSQL says when a statement waited too long for a lock, or was stopped by its own time limit. */
export function isTimeLimit(err: unknown): boolean {
  return TIME_LIMIT.has(errorCode(err));
}

/** ENOENT is a missing Unix socket only when it comes from connecting, and not from reading a file. */
function isSocketError(err: unknown): boolean {
  const syscall = err instanceof Error && 'syscall' in err ? err.syscall : undefined;
  return errorCode(err) !== 'ENOENT' || syscall === 'connect';
}
