// The worker: claims jobs, runs them, streams their logs, reports. Any number of copies may run.
import { runService } from '@wfg/shared/runtime/run-service';
import { workerFields } from './config.ts';
import { startWorker } from './worker.ts';

await runService('worker', workerFields, startWorker, (config) => config.KILL_GRACE_SECS);
