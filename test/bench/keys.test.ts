// 10,000 events with 1,000 keys, each sent ten times from four connections: 1,000 runs. Prints rates; asserts no time.
import { createEvent } from '@wfg/shared/contract/routes/events';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { startApi } from '../support/api.ts';
import { testDatabase } from '../support/postgres.ts';
import { valueOf } from '../support/sql.ts';

const CONNECTIONS = 4;
const KEYS = 1_000;
const TIMES = 10;

/** The numbers of the keys that one connection sends: each ten times over all, at different moments. */
function keysOf(connection: number): number[] {
  const sends = (KEYS * TIMES) / CONNECTIONS;
  return Array.from({ length: sends }, (_, n) => (n * 7 + connection * 251) % KEYS);
}

/** Sends them all; returns each key with the id it got. */
async function sendAll(send: (connection: number, key: number) => Promise<string>): Promise<string[]> {
  const connections = Array.from({ length: CONNECTIONS }, async (_, connection) => {
    const got: string[] = [];
    for (const key of keysOf(connection)) got.push(`${key}: ${await send(connection, key)}`);
    return got;
  });
  return (await Promise.all(connections)).flat();
}

function report(how: string, begun: number): void {
  const secs = (performance.now() - begun) / 1_000;
  process.stdout.write(`${how}: ${Math.round((KEYS * TIMES) / secs)} events/s\n`);
}

test('from SQL', async () => {
  await using db = await testDatabase();
  const clients = Array.from({ length: CONNECTIONS }, () => new Client(db.url));
  await Promise.all(clients.map((client) => client.connect()));
  const begun = performance.now();
  const got = await sendAll(async (connection, key) => {
    const sql = `select wfg_enqueue('a', $1, idempotency_key => $2) as id`;
    const answer = await clients[connection]?.query<{ id: string }>(sql, [
      JSON.stringify({ key }),
      `key ${key}`,
    ]);
    return answer?.rows[0]?.id ?? '';
  });
  report('SQL', begun);
  await Promise.all(clients.map((client) => client.end()));
  expect([got.length, new Set(got).size]).toEqual([KEYS * TIMES, KEYS]);
  expect(await valueOf(db.pool, 'select count(*)::int from wfg_jobs')).toBe(KEYS);
});

test('over HTTP', async () => {
  await using db = await testDatabase();
  await using api = await startApi(db.url);
  const begun = performance.now();
  const got = await sendAll(async (_, key) => {
    const headers = { 'idempotency-key': `key ${key}` };
    return (await api.wfg(createEvent, { headers, body: { workflow_type: 'a', payload: { key } } })).id;
  });
  report('HTTP', begun);
  expect([got.length, new Set(got).size]).toEqual([KEYS * TIMES, KEYS]);
  expect(await valueOf(db.pool, 'select count(*)::int from wfg_jobs')).toBe(KEYS);
});
