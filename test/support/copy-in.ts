// COPY … FROM STDIN, which pg leaves to others.
import type { Pool, Submittable, Connection } from 'pg';

/** Runs the statement and gives it the data. */
export async function copyIn(pool: Pool, sql: string, data: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const copy = {
    submit: (connection: Connection) => connection.query(sql),
    handleCopyInResponse(
      connection: Connection & { sendCopyFromChunk(chunk: Buffer): void; endCopyFrom(): void },
    ) {
      connection.sendCopyFromChunk(Buffer.from(data));
      connection.endCopyFrom();
    },
    handleCommandComplete: () => undefined,
    handleReadyForQuery: () => resolve(),
    handleError: (error: Error) => reject(error),
  } satisfies Submittable & Record<string, unknown>;
  const client = await pool.connect();
  try {
    client.query(copy);
    await promise;
  } finally {
    client.release();
  }
}
