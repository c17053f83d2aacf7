// known fault 12: PostgreSQL is restarted, or killed, under 100 commands whose workers live: none of them runs twice.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startCluster } from '../support/cluster.ts';
import { newGate } from '../support/gate.ts';
import { waitFor } from '../support/wait-for.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';

const COUNT = 100;
const WORKERS = 2;
/** Long enough for a reaper that looks each second: deploy/README.md, LEASE_TTL_SECS. */
const LEASE_SECS = 8;
const WAYS = {
  'restarted, and away for longer than a lease': ({ restart }) => restart((LEASE_SECS + 2) * 1_000),
  'killed, and back at once': ({ kill }) => kill(),
} satisfies Record<string, (postgres: OwnPostgres) => Promise<void>>;

let postgres: OwnPostgres;
beforeAll(async () => {
  postgres = await startOwnPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

test.for(Object.entries(WAYS))('known fault 12: %s, 100 commands run once', async ([, strike]) => {
  await postgres.renew();
  const env = { LEASE_TTL_SECS: String(LEASE_SECS), WORKER_CONCURRENCY: String(COUNT / WORKERS) };
  await using cluster = await startCluster(postgres, { counts: { worker: WORKERS }, env });
  const gate = newGate();
  const trail = join(inject('runFolder'), `trail-${randomUUID()}`);
  const lines = () => (existsSync(trail) ? readFileSync(trail, 'utf8').trim().split('\n') : []);
  const command = { run: `echo "$WFG_JOB_ID" >>'${trail}'; ${gate.wait}`, retries: 5 };
  const names = Array.from({ length: COUNT }, (_, n) => `job-${n}`).sort();
  const jobs = Object.fromEntries(names.map((name) => [name, command]));
  const run = await cluster.submit({ name: 'w', jobs });
  await waitFor('all to run', () => lines().length === COUNT);

  await strike(postgres);
  // What were taken back would have begun again by then.
  await sleep(2 * LEASE_SECS * 1_000);
  await gate.open();
  const ended = await cluster.ended(run);
  expect(ended.status).toBe('completed');
  expect(ended.jobs.map(({ attempt }) => attempt)).toEqual(names.map(() => 0));
  expect(lines().sort()).toEqual(names);
});
