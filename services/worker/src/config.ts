// What a worker is configured by, and its handler hosts with it.
import { SERVICE_FIELDS, configFields } from '@wfg/shared/runtime/config-fields';
import type { z } from 'zod';

export const hostFields = configFields.pick({
  ...SERVICE_FIELDS,
  DATABASE_URL: true,
  DATABASE_DIRECT_URL: true,
  WORKER_ID: true,
  WORKER_LABELS: true,
  WORKER_CONCURRENCY: true,
  HANDLER_CONCURRENCY: true,
  LEASE_TTL_SECS: true,
  KILL_GRACE_SECS: true,
  LOG_MAX_BYTES: true,
  HIDDEN_DIR: true,
});

export const workerFields = hostFields.extend({ WFG_MODULES: configFields.shape.WFG_MODULES });

export type HostConfig = z.output<typeof hostFields>;
export type WorkerConfig = z.output<typeof workerFields>;
