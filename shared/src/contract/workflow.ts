// A workflow as people hand it in (a file's map of jobs, or workflow-graph's array) and as it is shown.
import { z } from 'zod';
import { Backoff } from './backoff.ts';
import { CronTrigger } from './cron.ts';
import { WorkflowType } from './event.ts';
import { whole } from './whole.ts';

/** Ids of workflows and jobs. `.` and `..` mean something else in URLs, and `__proto__` in JavaScript. */
export const ID_PATTERN = /^(?!\.{1,2}$|__proto__$)[A-Za-z0-9_.-]{1,255}$/;
export const Id = z.string().regex(ID_PATTERN, 'must match [A-Za-z0-9_.-]{1,255}');

export const MAX_JOBS = 10_000;
/** Dependencies of all jobs together: a run is settled edge by edge in one transaction. */
export const MAX_NEEDS = 200_000;
/** Variables of all environments together. */
export const MAX_ENV_ENTRIES = 100_000;
/** Steps of all jobs together. */
export const MAX_STEPS = 100_000;
/** `${{ }}` of all jobs together: each is read when the workflow is created. */
export const MAX_EXPRESSIONS = 100_000;
/** Entries of `on.schedule`. */
const MAX_SCHEDULES = 100;
export const MAX_COMMAND_BYTES = 1024 * 1024;
/** Of a handler's payload, as JSON. */
export const MAX_PAYLOAD_BYTES = 1024 * 1024;

const Text = z
  .string({ error: 'must be text' })
  .min(1, 'must not be empty')
  .max(1000, 'is longer than 1,000 characters');
const EnvName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a name of letters, digits and _');
const MAX_ENV_CHARS = 256 * 1024;
export const Env = z
  .record(EnvName, z.string({ error: 'must be a string: put the value in quotes' }))
  .refine((env) => charsOf(env) <= MAX_ENV_CHARS, 'holds more than 256 KiB: pass large data by a file');
export type Env = z.infer<typeof Env>;

/** What a job requires and a worker offers. A leading colon marks what a worker offers by what it can execute. */
export const LABEL_PATTERN = /^[^\s:,\p{Cc}\p{Cs}][^\s,\p{Cc}\p{Cs}]{0,99}$/u;
export const LABEL_RULE = 'must be 1 to 100 characters, no space, comma or control character, no leading ":"';
function charsOf(env: Record<string, string>): number {
  return Object.entries(env).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
}

export const Label = z.string().regex(LABEL_PATTERN, LABEL_RULE);

const Timeout = whole(1, 1_000_000_000, 'of seconds, ');
const Retries = whole(0, 1000);
const Priority = whole(-100, 100);
/** Of a map only `schedule` is acted upon. */
const Trigger = z.union([
  z.string(),
  z.array(z.string()),
  // The record keeps the order of the keys, in which they are shown.
  z.record(z.string(), z.unknown()).and(
    z.looseObject({
      schedule: z
        .array(CronTrigger, { error: 'must be a list, like [{ cron: "30 2 * * *" }]' })
        .max(MAX_SCHEDULES, `has more than ${MAX_SCHEDULES} entries`)
        .nullish(),
    }),
  ),
]);

const Condition = z.union([z.string(), z.boolean()], {
  error: "must be an expression, as text: in YAML one that begins with '!' stands in quotes",
});

const Step = z.strictObject({
  id: z.string().optional(),
  name: z.string().optional(),
  if: Condition.optional(),
  run: z.string().optional(),
  env: Env.optional(),
  timeout: Timeout.optional(),
});

const Retry = z.strictObject({
  max_retries: Retries.optional(),
  backoff: Backoff.optional(),
  not_on: z.array(whole(1, 255, 'that is an exit code, ')).optional(),
});

/** A job in a file: the map's key is its id. */
export const FileJob = z.strictObject(
  {
    name: Text.optional(),
    needs: z.union([z.string(), z.array(z.string())]).nullish(),
    if: Condition.optional(),
    run: z.string().optional(),
    steps: z.array(Step).optional(),
    uses: WorkflowType.optional(),
    with: z.unknown().optional(),
    env: Env.optional(),
    mask: z.array(EnvName).optional(),
    timeout: Timeout.optional(),
    expires_in: Timeout.optional(),
    labels: z.array(Label).optional(),
    retries: Retries.optional(),
    retry: Retry.optional(),
    priority: Priority.optional(),
  },
  { error: ({ code }) => (code === 'invalid_type' ? 'must be a map with run, steps or uses' : undefined) },
);
export type FileJob = z.infer<typeof FileJob>;

/** A job in workflow-graph's array. What the server decides (status, times, attempt) is read and ignored. */
export const GraphJob = z.strictObject({
  id: z.string(),
  name: Text,
  command: z.string(),
  depends_on: z.array(z.string()),
  required_labels: z.array(Label).optional(),
  max_retries: Retries.optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  ports: z.array(z.record(z.string(), z.unknown())).optional(),
  children: z.array(z.unknown()).nullish(),
  collapsed: z.boolean().optional(),
  status: z.unknown().optional(),
  attempt: z.unknown().optional(),
  output: z.unknown().optional(),
  started_at: z.unknown().optional(),
  duration_secs: z.unknown().optional(),
});
export type GraphJob = z.infer<typeof GraphJob>;

/** A workflow as handed in, in either form. */
export const WorkflowInput = z
  .strictObject(
    {
      id: z.unknown().optional(),
      name: Text,
      on: Trigger.nullish(),
      trigger: z.string().optional(),
      env: Env.nullish(),
      timeout: Timeout.optional(),
      jobs: z.union([z.array(GraphJob), z.record(z.string(), FileJob)], {
        // In what is one of them each fault is told by itself.
        error: ({ input }) =>
          typeof input === 'object' && input !== null
            ? undefined
            : "must be a map of jobs by their ids (or workflow-graph's array of jobs)",
      }),
    },
    { error: ({ code }) => (code === 'invalid_type' ? 'must be a map with name and jobs' : undefined) },
  )
  .meta({ id: 'WorkflowInput' });
export type WorkflowInput = z.infer<typeof WorkflowInput>;

export const GraphStatus = z.enum(['queued', 'running', 'success', 'failure', 'skipped', 'cancelled']);
export type GraphStatus = z.infer<typeof GraphStatus>;

/** workflow-graph's Job on the wire: every key always present. */
export const GraphJobView = z
  .object({
    id: z.string(),
    name: z.string(),
    status: GraphStatus,
    command: z.string(),
    duration_secs: z.int().nullable(),
    started_at: z.number().nullable(),
    depends_on: z.array(z.string()),
    output: z.string().nullable(),
    required_labels: z.array(z.string()),
    max_retries: z.int(),
    attempt: z.int(),
    metadata: z.record(z.string(), z.unknown()),
    ports: z.array(z.record(z.string(), z.unknown())),
    children: z.array(z.unknown()).nullable(),
    collapsed: z.boolean(),
  })
  .meta({ id: 'GraphJob' });
export type GraphJobView = z.infer<typeof GraphJobView>;

export const WorkflowView = z
  .object({ id: z.string(), name: z.string(), trigger: z.string(), jobs: z.array(GraphJobView) })
  .meta({ id: 'Workflow' });
export type WorkflowView = z.infer<typeof WorkflowView>;
