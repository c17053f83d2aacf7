// What shows that a process does its work: some that is new, of each kind of process, until it is done.
import { fileURLToPath } from 'node:url';
import type { Pool } from 'pg';
import type { Cluster } from './cluster.ts';
import { enqueue, states, submit } from './engine.ts';
import type { ServiceName } from './process.ts';
import { waitFor } from './wait-for.ts';
import { ring } from './worker.ts';

const WORKFLOW = JSON.stringify({ name: 'new', jobs: { a: { run: 'true' } } });

/** Each gives a process new work that no other could do, and resolves when it is done. */
type Work = (cluster: Pick<Cluster, 'url'>, pool: Pool) => Promise<unknown>;

/** WFG_MODULES of the workers. */
export const MODULE = fileURLToPath(new URL('handlers.ts', import.meta.url));

export type Doer = ServiceName | 'handlers';

const WORK: Record<Doer, Work> = {
  api: ({ url }) => waitFor('the api to serve', async () => (await fetch(`${url}/api/runs`)).ok),

  async scheduler(_, pool) {
    const { rows } = await pool.query<{ id: string }>('select wfg_submit($1) as id', [WORKFLOW]);
    await ring(pool);
    const run = rows[0]?.id ?? '';
    await waitFor('the scheduler to release a job', async () => (await states(pool, run)).a !== 'blocked');
  },

  async worker(_, pool) {
    const run = await submit(pool, { a: { run: 'echo new' } });
    await ring(pool);
    await waitFor('the worker to run a job', async () => (await states(pool, run)).a === 'completed');
  },

  async handlers(_, pool) {
    const event = await enqueue(pool, 'test.print');
    await ring(pool);
    await waitFor('the handlers to run', async () => (await states(pool, event)).main === 'completed');
  },

  async reaper(_, pool) {
    const late = await enqueue(pool, 'nobody', { expires_in_secs: 0 });
    await waitFor('the reaper to end what expired', async () => (await states(pool, late)).main === 'failed');
  },
};

export const SERVICES = ['api', 'scheduler', 'worker', 'reaper'] as const satisfies ServiceName[];
export const DOERS = [...SERVICES, 'handlers'] as const satisfies Doer[];

/** Has each process do something new, all at once; resolves with the seconds that it took each. */
export async function workSecs(cluster: Cluster, pool: Pool): Promise<Record<Doer, number>> {
  const secs = { api: 0, scheduler: 0, worker: 0, reaper: 0, handlers: 0 };
  const since = performance.now();
  await Promise.all(
    DOERS.map(async (name) => {
      await WORK[name](cluster, pool);
      secs[name] = (performance.now() - since) / 1_000;
    }),
  );
  return secs;
}
