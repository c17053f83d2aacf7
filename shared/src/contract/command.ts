// What a worker executes of a command job: stored with the job, handed over by the claim.
import { z } from 'zod';

const EnvMap = z.record(z.string(), z.string());

/** One shell of a job. */
export const Step = z.object({
  label: z.string(),
  run: z.string(),
  env: EnvMap,
  /** Seconds; null: as long as the job may. */
  timeout: z.int().nullable(),
  /** Whether it runs while no step of the job has failed. */
  on_success: z.boolean().default(true),
  /** Whether it runs once a step of the job has failed. */
  on_failure: z.boolean().default(false),
});
export type Step = z.infer<typeof Step>;

/** Free of `${{ }}`. Rows of version 0.1 lack what has a default. */
export const CommandSpec = z.object({
  run: z.string().nullable(),
  steps: z.array(Step).nullable(),
  /** The job's own; it goes before the run's. */
  env: EnvMap,
  /** Names of variables whose values are hidden in logs. */
  mask: z.array(z.string()).default([]),
  /** Exit codes after which there is no retry. */
  not_on: z.array(z.int()).default([]),
});
export type CommandSpec = z.infer<typeof CommandSpec>;
