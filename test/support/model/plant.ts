// Plants faults in the statements of a pool and in the functions of its database, to see that they are found.
import type { Pool } from 'pg';

export interface Fault {
  /** What a statement or a function says, and what it says instead. */
  from: string;
  to: string;
}

const FUNCTIONS = `
select pg_get_functiondef(p.oid) as text from pg_proc p
where p.pronamespace = current_schema()::regnamespace and strpos(p.prosrc, $1) > 0`;

/**
 * Replaces the text in every function that has it, and in every statement from now on; says how many had it. The pool must
 * not be connected yet.
 */
export async function plant(pool: Pool, { from, to }: Fault): Promise<() => number> {
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
  const { rows } = await pool.query<{ text: string }>(FUNCTIONS, [from]);
  for (const { text } of rows) await pool.query(text.replaceAll(from, to));
  planted += rows.length;
  return () => planted;
}
