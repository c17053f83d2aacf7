// wfg's SQL functions as any program calls them.
import type { Pool, PoolClient } from 'pg';
import { DatabaseError } from 'pg';

/** The one value that a statement gives. */
export async function valueOf<T = string>(
  db: Pool | PoolClient,
  sql: string,
  ...values: unknown[]
): Promise<T> {
  const { rows } = await db.query<{ value: T }>(`select (${sql}) as value`, values);
  const [row] = rows;
  if (!row) throw new Error(`${sql} gave nothing`);
  return row.value;
}

interface Refusal {
  code: string | undefined;
  message: string;
  hint: string | undefined;
}

/** What a statement raises. */
export async function refusalOf(db: Pool | PoolClient, sql: string, ...values: unknown[]): Promise<Refusal> {
  try {
    await valueOf(db, sql, ...values);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const { code, message, hint } = error;
    return { code, message, hint };
  }
  throw new Error(`${sql} is not refused`);
}
