// A worker whose handlers are those of the module named by its argument, in place of the ones that ship with it.
import { runService } from '@wfg/shared/runtime/run-service';
import { workerFields } from '../../services/worker/src/config.ts';
import { startWorker } from '../../services/worker/src/worker.ts';

const modules = process.argv.slice(2);

await runService(
  'worker',
  workerFields,
  (given) => startWorker(given, modules),
  (config) => config.KILL_GRACE_SECS,
);
