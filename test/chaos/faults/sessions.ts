// Others use the database badly: a transaction that stays open, and more connections than there are places.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Fault } from './fault.ts';

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
