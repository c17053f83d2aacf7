// The worker: claims jobs, runs them, streams their logs, reports. Any number of copies may run.
import { fileURLToPath } from 'node:url';
import { runService } from '@wfg/shared/runtime/run-service';
import { workerFields } from './config.ts';
import { startWorker } from './worker.ts';

const DEMONSTRATION = fileURLToPath(new URL('handlers/demonstration.ts', import.meta.url));

await runService(
  'worker',
  workerFields,
  (given) => startWorker(given, [DEMONSTRATION]),
  (config) => config.KILL_GRACE_SECS,
);
