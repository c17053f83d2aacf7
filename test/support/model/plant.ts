// Plants faults in the statements of a pool, to see that they are found.
import type { Pool } from 'pg';

export interface Fault {
  /** What a statement says, and what it says instead. */
  from: string;
  to: string;
}

/** Replaces the text in every statement that has it from now on; says how many had it. */
export function plant(pool: Pool, { from, to }: Fault): () => number {
  let planted = 0;
  pool.on('connect', (client) => {
    const query: unknown = Reflect.get(client, 'query');
    if (typeof query !== 'function') throw new Error('a client has no query');
    const altered = (first: unknown, ...rest: unknown[]): unknown => {
      if (typeof first !== 'string' || !first.includes(from))
        return Reflect.apply(query, client, [first, ...rest]);
      planted++;
      return Reflect.apply(query, client, [first.replaceAll(from, to), ...rest]);
    };
    Object.assign(client, { query: altered });
  });
  return () => planted;
}
