// Sends many things to the database in one statement; if it refuses them together, each alone, so that one bad value
// does not hold up the others.
import { errorCode, isConnectionError } from '@wfg/shared/db/sqlstate';

/**
 * A standby (25), a rollback by concurrency (40), a server without disk or memory (53), a lock not granted (55), an
 * operator or a statement timeout (57), the server's own disk (58).
 */
const PASSING = /^(25|40|53|55|57|58)...$/;

/** True for an error that is not the fault of the values: worth trying again later. */
export function isPassing(error: unknown): boolean {
  return isConnectionError(error) || PASSING.test(errorCode(error) ?? '');
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
