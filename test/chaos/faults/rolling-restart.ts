// A deployment, three times: all processes are replaced, of each service one after the other.
import type { Cluster } from '../../support/cluster.ts';
import type { ServiceName } from '../../support/process.ts';
import type { Fault } from './fault.ts';

const TIMES = 3;
const SERVICES: readonly ServiceName[] = ['api', 'scheduler', 'reaper', 'worker'];

export const rollingRestart: Fault = {
  name: 'rolling restart',
  async strike({ cluster }) {
    await Promise.all(SERVICES.map((service) => roll(cluster, service)));
  },
};

async function roll(cluster: Cluster, service: ServiceName): Promise<void> {
  for (let time = 0; time < TIMES; time++) {
    for (const index of cluster.of(service).keys()) {
      await cluster.restart(service, index);
      await cluster.of(service)[index]?.logged('started');
    }
  }
}
