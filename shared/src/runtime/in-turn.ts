// Things done one after the other that have nothing to do with each other: none that fails keeps the next from being done.
import { isConnectionError } from '../db/sqlstate.ts';
import { messageOf } from '../rules/message-of.ts';

/**
 * Does each of these, then throws what they failed of. Throws at once when the database is away: that goes for all of them.
 */
export async function inTurn(steps: Iterable<() => Promise<void>>): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    await step().catch((error: unknown) => {
      if (isConnectionError(error)) throw error;
      failures.push(error);
    });
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, failures.map(messageOf).join('; '));
}
