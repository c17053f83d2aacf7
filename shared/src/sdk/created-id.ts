// What the SDK asks of a connection: to make something by one statement, also inside the caller's own transaction.

/** A pool, a client or a client in a transaction of node-postgres, or whatever has the same `query`. */
export interface Db {
  query: (text: string, values: unknown[]) => Promise<{ rows: unknown[] }>;
}

/** The id that the statement returns as `id`. Rejects with what the database says against it. */
export async function createdId(db: Db, statement: string, values: unknown[]): Promise<string> {
  const { rows } = await db.query(statement, values);
  const [row] = rows;
  if (typeof row !== 'object' || row === null || !('id' in row)) throw new Error('no id was returned');
  return String(row.id);
}
