// One execution of a workflow, with or without its jobs.
import { z } from 'zod';
import { Job, Time } from './job.ts';

export const RunStatus = z.enum(['pending', 'running', 'cancelling', 'completed', 'failed', 'cancelled']);
export type RunStatus = z.infer<typeof RunStatus>;

export const RunSummary = z
  .object({
    run_id: z.uuid(),
    number: z.int().nullable(),
    workflow_id: z.string().nullable(),
    workflow_type: z.string().nullable(),
    name: z.string(),
    status: RunStatus,
    rev: z.int(),
    created_at: Time,
    started_at: Time.nullable(),
    finished_at: Time.nullable(),
    rerun_of: z.uuid().nullable(),
    error: z.string().nullable(),
    payload: z.unknown(),
  })
  .meta({ id: 'RunSummary' });
export type RunSummary = z.infer<typeof RunSummary>;

export const Run = RunSummary.extend({ jobs: z.array(Job) }).meta({ id: 'Run' });
export type Run = z.infer<typeof Run>;
