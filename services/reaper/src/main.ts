// The reaper: takes back expired leases, enforces deadlines, forgets dead workers, keeps partitions, applies
// retention. Any number of
// copies may run.
import { SERVICE_FIELDS, configFields } from '@wfg/shared/runtime/config-fields';
import { runService } from '@wfg/shared/runtime/run-service';
import { startReaper } from './reaper.ts';

const schema = configFields.pick({
  ...SERVICE_FIELDS,
  DATABASE_URL: true,
  REAP_INTERVAL_SECS: true,
  RETENTION_RUNS_DAYS: true,
  RETENTION_LOGS_DAYS: true,
});

await runService('reaper', schema, startReaper);
