// One process of a service after the other is killed, and started again at once.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceName } from '../../support/process.ts';
import type { Fault } from './fault.ts';

const KILLS = 4;
const MOST_PAUSE_MS = 2_000;

export function killLoop(service: ServiceName): Fault {
  return {
    name: `kill -9 ${service}`,
    async strike({ cluster }) {
      for (let kill = 0; kill < KILLS; kill++) {
        await cluster.kill(service, kill % cluster.of(service).length);
        await sleep(Math.random() * MOST_PAUSE_MS);
      }
    },
  };
}
