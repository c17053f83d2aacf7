// A worker stands still for longer than its leases and goes on as if nothing had been: at first its main process alone,
// then another worker with all that it started.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { descendantsOf } from '../../support/descendants.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Fault, LEASE_SECS } from './fault.ts';

const STILL_MS = (LEASE_SECS + 1.5) * 1_000;
const PATIENCE_MS = 5_000;

export const frozenWorker: Fault = {
  name: 'SIGSTOP past the lease',
  loses: true,
  async strike({ cluster, pool }) {
    const [first, second] = cluster.of('worker').map(({ pid }) => pid);
    if (first === undefined || second === undefined) throw new Error('it takes two workers');
    await holding(pool, 'worker-1');
    await standStill([first]);
    await holding(pool, 'worker-2');
    await standStill([second, ...descendantsOf(second)]);
  },
};

/** Only what lasts is still running elsewhere when the worker goes on. */
const HOLDING = `
  select from wfg_jobs
  where state = 'active' and worker_id = $1 and started_at < wfg_now() - interval '0.6 s' limit 1`;

/** Where little is offered there may be nothing of the kind: then it is frozen with what it has. */
async function holding(pool: Pool, worker: string): Promise<void> {
  const isHolding = async () => (await pool.query(HOLDING, [worker])).rowCount === 1;
  await waitFor(`${worker} to hold what lasts`, isHolding, PATIENCE_MS).catch(() => undefined);
}

async function standStill(pids: readonly number[]): Promise<void> {
  signalAll(pids, 'SIGSTOP');
  try {
    await sleep(STILL_MS);
  } finally {
    signalAll(pids, 'SIGCONT');
  }
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended.
    }
  }
}
