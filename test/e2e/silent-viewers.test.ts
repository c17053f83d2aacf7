// known fault 32: viewers of a job that prints nothing come and go, in every way: nothing of them stays in the api.
import { readdirSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { openStream } from '../support/event-stream.ts';
import { newGate } from '../support/gate.ts';
import { testDatabase } from '../support/postgres.ts';
import type { TestProcess } from '../support/process.ts';
import { dial, handshake } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';
import { metricsOf } from '../support/worker.ts';

const AT_ONCE = 50;
const ROUNDS = 20;

/** What an api holds, as it tells itself, and as the system and the database do. */
async function heldBy(api: TestProcess, pool: Pool): Promise<Record<string, number>> {
  const text = await metricsOf(api);
  const metric = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int from pg_stat_activity where datname = current_database() and application_name like 'wfg-api%'`,
  );
  return {
    viewers: metric('wfg_viewers'),
    // Sockets and timers.
    resources: metric('nodejs_active_resources_total'),
    files: readdirSync(`/proc/${api.pid}/fd`).length,
    connections: rows[0]?.count ?? 0,
  };
}

interface Watched {
  url: string;
  run: string;
}

type Visit = (watched: Watched) => Promise<void>;

const subscription = (run: string) =>
  JSON.stringify({ op: 'subscribe', id: 'l', topic: 'logs', run, job: 'a' });

async function opened({ url, run }: Watched): Promise<WebSocket> {
  const socket = dial(url);
  socket.on('error', () => undefined);
  await handshake(socket);
  socket.send(subscription(run));
  return socket;
}

const VISITS: Visit[] = [
  async function closes(watched) {
    const socket = await opened(watched);
    await new Promise((resolve) => socket.once('message', resolve));
    socket.close();
  },
  async function vanishes(watched) {
    const socket = await opened(watched);
    socket.terminate();
  },
  async function vanishesInTheHandshake({ url }) {
    const socket = dial(url);
    socket.on('error', () => undefined);
    await setImmediate();
    socket.terminate();
  },
  async function streams({ url, run }) {
    const stream = await openStream(`${url}/api/runs/${run}/jobs/a/logs/stream`);
    stream.leave();
  },
  async function leavesBeforeTheAnswer({ url, run }) {
    const leaving = new AbortController();
    const asked = fetch(`${url}/api/runs/${run}/jobs/a/logs/stream`, { signal: leaving.signal });
    await setImmediate();
    leaving.abort();
    await asked.catch(() => undefined);
  },
];

async function comeAndGo(watched: Watched): Promise<void> {
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, index) => VISITS[index % VISITS.length]?.(watched)),
  );
}

async function startSilent(cluster: Cluster): Promise<{ run: string; end: () => Promise<void> }> {
  const gate = newGate();
  const run = await cluster.submit({ name: 'silent', jobs: { a: { run: gate.wait } } });
  await waitFor('it to begin', async () => (await cluster.run(run)).status === 'running');
  return {
    run,
    async end() {
      await gate.open();
      await cluster.ended(run);
    },
  };
}

test('known fault 32: a thousand viewers of a silent job leave nothing behind', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database);
  const [api] = cluster.of('api');
  if (!api) throw new Error('there is no api');
  const { run, end } = await startSilent(cluster);
  const watched = { url: cluster.url, run };
  const held = () => heldBy(api, database.pool);
  // The first who come make it open what it keeps.
  await comeAndGo(watched);
  await waitFor('them to be gone', async () => (await held()).viewers === 0);
  const before = await held();
  for (let round = 0; round < ROUNDS; round++) await comeAndGo(watched);
  const grown = async () => {
    const now = await held();
    return Object.keys(before).filter((what) => (now[what] ?? 0) > (before[what] ?? 0));
  };
  await waitFor('no more to be held than before', async () => {
    const more = await grown();
    if (more.length > 0) throw new Error(more.join());
    return true;
  });
  expect(before.viewers).toBe(0);
  await end();
});
