// Makes what a request asks for; by its Idempotency-Key once, however often it is repeated.
import { KEY_PATTERN, KEY_RULE } from '@wfg/shared/contract/key';
import { WfgError } from '@wfg/shared/contract/problem';
import type { Hint } from '@wfg/shared/contract/bell';
import type { Queryable } from '@wfg/shared/db/pool';
import { withTx } from '@wfg/shared/db/tx';
import { type Kept, keepKey, type Key, takeKey } from '@wfg/shared/queries/keys';
import type { Context } from 'hono';
import type { ApiContext } from '../context.ts';

export interface Made extends Kept {
  /** What to ring for. */
  hint?: Hint;
}

/** What was made now, or, as `made: null`, by an earlier request with the same key. */
type Once<M extends Made> = Kept & { made: M | null };

/**
 * Has `make` make what the request with this body asks for, unless its key was used: in one transaction with the key if
 * there is one, so `make` works with nothing but the `db` it is given.
 *
 * @throws {WfgError} invalid_key, key_reused, key_in_use.
 */
export async function once<M extends Made>(
  { pool, doorbell }: Pick<ApiContext, 'pool' | 'doorbell'>,
  c: Context,
  body: unknown,
  make: (db: Queryable) => Promise<M>,
): Promise<Once<M>> {
  const key = keyOf(c, body);
  const found =
    key === null
      ? ofMade(await make(pool))
      : await withTx(pool, async (tx) => {
          const kept = await takeKey(tx, key);
          if (kept) return { ...kept, made: null };
          const made = await make(tx);
          await keepKey(tx, key, made);
          return ofMade(made);
        });
  if (found.made?.hint) doorbell.ring(found.made.hint);
  return found;
}

function ofMade<M extends Made>(made: M): Once<M> {
  return { subject: made.subject, status: made.status, made };
}

/**
 * The request's key; null when it has none.
 *
 * @throws {WfgError} invalid_key.
 */
export function keyOf(c: Context, body: unknown): Key | null {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return null;
  if (!KEY_PATTERN.test(key)) throw new WfgError('invalid_key', `the Idempotency-Key ${KEY_RULE}`);
  return { scope: `${c.req.method} ${c.req.path}`, key, body };
}
