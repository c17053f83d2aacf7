// Others use the database badly: a transaction that stays open, rows that are held locked, and more connections than there
// are places.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type Fault, LEASE_SECS } from './fault.ts';

const LONG_MS = 8_000;
const IDLE = 300;
/** How many ask at once. */
const ASKING = 10;

export const openTransaction: Fault = {
  name: 'transaction left open',
  async strike({ postgres }) {
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    try {
      await client.query('begin isolation level repeatable read');
      await client.query('select count(*) from wfg_jobs');
      await sleep(LONG_MS);
    } finally {
      await client.end();
    }
  },
};

/** A third of a lease passes between two renewals: what is held for less than the rest must not lose it. */
const LONGEST_HOLD_MS = (LEASE_SECS * 1_000) / 2;

const HOLD_RUNS = `
  select from wfg_runs
  where id = any(array(select id from wfg_runs where state = 'open' order by random() limit 3))
  for update skip locked`;
const HOLD_JOBS = `
  select from wfg_jobs
  where (run_id, position) in (
    select run_id, position from wfg_jobs where state in ('blocked', 'pending', 'active') order by random() limit 5)
  for update skip locked`;

/** A handful of rows of what goes on, one handful after the other. */
export const rowLocks: Fault = {
  name: 'row locks',
  async strike({ postgres }) {
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    try {
      for (const over = performance.now() + LONG_MS; performance.now() < over; ) {
        await client.query('begin');
        await client.query(HOLD_RUNS);
        await client.query(HOLD_JOBS);
        await sleep(LONGEST_HOLD_MS * (0.5 + Math.random() / 2));
        await client.query('rollback');
      }
    } finally {
      await client.end();
    }
  },
};

/** They take each place that becomes free, until there are 300 or none is left. */
export const idleConnections: Fault = {
  name: '300 idle connections',
  async strike({ postgres }) {
    const held: Client[] = [];
    const over = performance.now() + LONG_MS;

    async function hold(): Promise<void> {
      while (held.length < IDLE && performance.now() < over) {
        const client = new Client({ connectionString: postgres.url });
        client.on('error', () => undefined);
        const isIn = await client.connect().then(
          () => true,
          () => false,
        );
        if (isIn) held.push(client);
        else await sleep(20);
      }
    }

    await Promise.all(Array.from({ length: ASKING }, hold));
    await sleep(Math.max(0, over - performance.now()));
    await Promise.all(held.map((client) => client.end()));
  },
};
