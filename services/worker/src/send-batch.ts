// Sends many things to the database in one statement; if it refuses them together, each alone, so that one bad value
// does not hold up the others.
import { errorCode, isConnectionError, SQLSTATE } from '@wfg/shared/db/sqlstate';
import { DatabaseError } from 'pg';

const CODE = /^(?=.*\d)[0-9A-Z]{5}$/;
/** A value that PostgreSQL cannot take (22), or that a constraint forbids (23), or that is too large (54000). */
const OWN = /^(22...|23...|54000)$/;

/**
 * True for an error that is not the fault of what was sent: the database is away, full, or refuses whatever it is sent,
 * as with a trigger or a grant that someone broke. Worth trying again until that is mended. That a partition is missing
 * has the code of a constraint, and names none.
 */
export function isPassing(error: unknown): boolean {
  if (isConnectionError(error)) return true;
  const code = errorCode(error);
  if (code === undefined || !CODE.test(code)) return false;
  return (
    !OWN.test(code) ||
    (code === SQLSTATE.checkViolation && error instanceof DatabaseError && error.constraint === undefined)
  );
}

export interface Delivery<T, A> {
  /** Sends all of these in one transaction, and answers in their order. */
  send: (batch: readonly T[]) => Promise<readonly A[]>;
  settle: (item: T, answer: A) => void;
  /** For an item that the database will never take. */
  refuse: (item: T, error: unknown) => void;
}

/** Settles or refuses each item. Throws when there was no answer for some of them, which have to be sent again. */
export async function sendBatch<T, A>(batch: readonly T[], delivery: Delivery<T, A>): Promise<void> {
  const { send, settle, refuse } = delivery;
  const [only] = batch;
  if (only === undefined) return;
  let answers: readonly A[];
  try {
    answers = await send(batch);
  } catch (error) {
    if (isConnectionError(error)) throw error;
    if (batch.length > 1) return sendEach(batch, delivery);
    if (isPassing(error)) throw error;
    return refuse(only, error);
  }
  for (const [index, answer] of answers.entries()) {
    const item = batch[index];
    if (item !== undefined) settle(item, answer);
  }
}

async function sendEach<T, A>(batch: readonly T[], delivery: Delivery<T, A>): Promise<void> {
  const passing: unknown[] = [];
  for (const item of batch) {
    await sendBatch([item], delivery).catch((error: unknown) => {
      if (isConnectionError(error)) throw error;
      passing.push(error);
    });
  }
  if (passing.length > 0) throw passing[0];
}
