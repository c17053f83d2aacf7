// The worker: claims jobs, runs them, streams their logs, reports. Any number of copies may run.
import { SERVICE_FIELDS, configFields } from '@wfg/shared/runtime/config-fields';
import { runService } from '@wfg/shared/runtime/run-service';
import { startWorker } from './worker.ts';

const schema = configFields.pick({
  ...SERVICE_FIELDS,
  DATABASE_URL: true,
  DATABASE_DIRECT_URL: true,
  WORKER_ID: true,
  WORKER_LABELS: true,
  WORKER_CONCURRENCY: true,
  LEASE_TTL_SECS: true,
  KILL_GRACE_SECS: true,
  LOG_MAX_BYTES: true,
});

await runService('worker', schema, startWorker, (config) => config.KILL_GRACE_SECS);
