// One process of a service after the other is killed, and started again at once.
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { killWorker } from '../../support/kill-worker.ts';
import type { ServiceName } from '../../support/process.ts';
import type { Fault } from './fault.ts';

const KILLS = 4;
const MOST_PAUSE_MS = 2_000;

export function killLoop(service: ServiceName): Fault {
  return {
    name: `kill -9 ${service}`,
    ...(service === 'worker' && { loses: true as const }),
    async strike({ cluster }) {
      for (let kill = 0; kill < KILLS; kill++) {
        const index = kill % cluster.of(service).length;
        // What this run of the tests has started.
        if (service === 'worker') await killWorker(cluster, index, inject('runFolder'));
        else await cluster.kill(service, index);
        await sleep(Math.random() * MOST_PAUSE_MS);
      }
      // A process that is not there yet is still missing.
      await Promise.all(cluster.of(service).map((one) => one.logged('started')));
    },
  };
}
