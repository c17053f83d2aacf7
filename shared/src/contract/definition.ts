// A workflow that has passed every check: what is stored, and what runs are made from. Definitions of version 0.1 lack
// what has a default here.
import { z } from 'zod';
import { Backoff } from './backoff.ts';
import { CatchUp } from './cron.ts';

const EnvMap = z.record(z.string(), z.string());
const Objects = z.record(z.string(), z.unknown());

export const DefinedStep = z.object({
  label: z.string(),
  run: z.string(),
  env: EnvMap,
  timeout: z.int().nullable(),
  /** An expression, without `${{ }}` around it. */
  if: z.string().nullable().default(null),
});
export type DefinedStep = z.infer<typeof DefinedStep>;

/**
 * What a job's condition may be true in spite of. `nothing`: it can be skipped as soon as one ancestor did not
 * complete. `failure`: its ancestors must all have ended first. `cancel`: it is judged even when the run is cancelled.
 */
export const Tolerates = z.enum(['nothing', 'failure', 'cancel']);
export type Tolerates = z.infer<typeof Tolerates>;

/** A job with every default filled in. Of `run`, `steps` and `uses` exactly one is not null. */
export const DefinedJob = z.object({
  id: z.string(),
  name: z.string(),
  needs: z.array(z.string()),
  run: z.string().nullable(),
  steps: z.array(DefinedStep).nullable(),
  /** The workflow type whose handler executes it. */
  uses: z.string().nullable().default(null),
  /** The handler's payload: any JSON; strings may hold `${{ }}`. */
  with: z.unknown().default(null),
  /** An expression, judged when all that it needs has ended; null when there is nothing to judge. */
  condition: z.string().nullable().default(null),
  tolerates: Tolerates.default('nothing'),
  /** Values may hold `${{ }}`. */
  env: EnvMap,
  /** Names of variables whose values are hidden in logs. */
  mask: z.array(z.string()).default([]),
  /** Seconds, of an attempt. */
  timeout: z.int().nullable(),
  /** Seconds that it may wait, once it could start, for its first attempt. */
  expires_in: z.int().nullable().default(null),
  labels: z.array(z.string()),
  max_retries: z.int(),
  /** Null when it was not given: none for commands, the handler's own for `uses`. */
  backoff: Backoff.nullable(),
  /** Exit codes after which there is no retry. */
  not_on: z.array(z.int()).default([]),
  priority: z.int(),
  metadata: Objects,
  ports: z.array(Objects),
  children: z.array(z.unknown()).nullable(),
  collapsed: z.boolean(),
});
export type DefinedJob = z.infer<typeof DefinedJob>;

/** What is stored of a command whose expressions are still to be evaluated. */
export const SpecTemplate = DefinedJob.pick({ run: true, steps: true, env: true, mask: true, not_on: true });
export type SpecTemplate = z.infer<typeof SpecTemplate>;

/** When a run is to start by itself. */
export const DefinedSchedule = z.object({ cron: z.string(), timezone: z.string(), catch_up: CatchUp });
export type DefinedSchedule = z.infer<typeof DefinedSchedule>;

export const Definition = z.object({
  name: z.string(),
  trigger: z.string(),
  schedules: z.array(DefinedSchedule).default([]),
  env: EnvMap,
  /** Seconds, of a whole run. */
  timeout: z.int().nullable().default(null),
  jobs: z.array(DefinedJob),
});
export type Definition = z.infer<typeof Definition>;
