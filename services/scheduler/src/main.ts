// The scheduler: moves runs on, and rings for what is due. Any number of copies may run.
import { SERVICE_FIELDS, configFields } from '@wfg/shared/runtime/config-fields';
import { runService } from '@wfg/shared/runtime/run-service';
import { startScheduler } from './scheduler.ts';

const schema = configFields.pick({ ...SERVICE_FIELDS, DATABASE_URL: true, DATABASE_DIRECT_URL: true });

await runService('scheduler', schema, startScheduler);
