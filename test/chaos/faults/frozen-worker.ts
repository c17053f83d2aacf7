// A worker stands still for longer than its leases and goes on as if nothing had been: at first its main process alone,
// then another worker with all that it started.
import { setTimeout as sleep } from 'node:timers/promises';
import { descendantsOf } from '../../support/descendants.ts';
import { type Fault, LEASE_SECS } from './fault.ts';

const STILL_MS = (LEASE_SECS + 1.5) * 1_000;

export const frozenWorker: Fault = {
  name: 'SIGSTOP past the lease',
  loses: true,
  async strike({ cluster }) {
    const [first, second] = cluster.of('worker').map(({ pid }) => pid);
    if (first === undefined || second === undefined) throw new Error('it takes two workers');
    await standStill([first]);
    await standStill([second, ...descendantsOf(second)]);
  },
};

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
