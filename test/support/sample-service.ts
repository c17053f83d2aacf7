// A service that does nothing, for the test of what all services have in common. SAMPLE says how it behaves.

import { setTimeout as sleep } from 'node:timers/promises';
import { configFields, SERVICE_FIELDS } from '@wfg/shared/runtime/config-fields';
import { runService } from '@wfg/shared/runtime/run-service';

const behaviour = process.env['SAMPLE'];
const HOUR_MS = 3_600_000;

await runService(
  'sample',
  configFields.pick({ ...SERVICE_FIELDS, DATABASE_URL: true, PORT: true }),
  async ({ log, stopping }) => {
    if (behaviour === 'starts slowly') await sleep(HOUR_MS, undefined, { signal: stopping });
    if (behaviour === 'cannot start') throw new Error('the schema is too old: run wfg migrate');
    if (behaviour === 'is refused') throw Object.assign(new Error('no such password'), { code: '28P01' });
    if (behaviour === 'throws later') setImmediate(() => void Promise.reject(new Error('a bug')));
    return {
      reasons: () => (behaviour === 'is not ready' ? ['listen: deaf for 14 s'] : []),
      done: behaviour === 'ends by itself' ? Promise.resolve() : undefined,
      async [Symbol.asyncDispose]() {
        if (behaviour === 'does not stop') await sleep(HOUR_MS);
        log.info('disposed');
      },
    };
  },
);
