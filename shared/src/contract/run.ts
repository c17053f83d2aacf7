// One execution of a workflow, with or without its jobs.
import { z } from 'zod';
import { Job, Time } from './job.ts';

/** Of a run, and of an event, which is a run of its own; however it was written, as the database and bells write it. */
export const RunId = z
  .uuid("must be a run's or event's id, like 0198c5a4-7b1e-7c3d-9a50-3f2b8d6c1e70")
  .toLowerCase();

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
