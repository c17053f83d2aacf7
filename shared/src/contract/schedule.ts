// Schedules: what is started at the ticks of a cron expression, and what became of each tick.
import { z } from 'zod';
import { CatchUp, Cron, Timezone } from './cron.ts';
import { WorkflowType } from './event.ts';
import { Time } from './job.ts';
import { whole } from './whole.ts';
import { Env, Id } from './workflow.ts';

/** A name, or, of one that a definition asks for, the workflow's id and a number: `ci:1`. */
export const ScheduleId = z
  .string()
  .regex(
    /^(?!\.{1,2}$|__proto__$)[A-Za-z0-9_.-]{1,255}(:[1-9]\d{0,3})?$/,
    "must be a schedule's id, like nightly or ci:1",
  );

/** What is null is as if it were not given. */
export const ScheduleInput = z
  .strictObject({
    cron: Cron.meta({ description: 'minute, hour, day of month, month, day of week; or @hourly, @daily, …' }),
    timezone: Timezone.nullish().meta({ description: 'the IANA name of a time zone; UTC' }),
    catch_up: CatchUp.nullish().meta({ description: 'what becomes of ticks that were missed; last' }),
    workflow_id: Id.nullish().meta({ description: 'each tick starts a run of this workflow' }),
    env: Env.nullish().meta({ description: 'of the run' }),
    workflow_type: WorkflowType.nullish().meta({ description: 'each tick stores an event of this type' }),
    payload: z.unknown().optional().meta({ description: 'of the event, any JSON; {}' }),
    max_attempts: whole(1, 100).nullish().meta({ description: 'of the event; 3' }),
    priority: whole(-100, 100).nullish().meta({ description: 'of the event; 0' }),
  })
  .meta({ id: 'ScheduleInput' });
export type ScheduleInput = z.output<typeof ScheduleInput>;

/** Of a workflow's schedule the event's four are null, of an event's schedule `workflow_id` and `env`. */
export const Schedule = z
  .object({
    id: z.string(),
    cron: z.string(),
    timezone: z.string(),
    catch_up: CatchUp,
    paused: z.boolean(),
    source: z.enum(['api', 'workflow']).meta({ description: 'workflow: its definition asks for it' }),
    workflow_id: z.string().nullable(),
    env: z.record(z.string(), z.string()).nullable(),
    workflow_type: z.string().nullable(),
    payload: z.unknown(),
    max_attempts: z.int().nullable(),
    priority: z.int().nullable(),
    next_at: Time.nullable(),
    last_tick_at: Time.nullable(),
    error: z.string().nullable().meta({ description: 'why the last tick started nothing' }),
    created_at: Time,
    updated_at: Time,
  })
  .meta({ id: 'Schedule' });
export type Schedule = z.infer<typeof Schedule>;

/** `missed`: it was too late for it, and nothing was started; `failed`: it could not be. */
export const TickOutcome = z.enum(['fired', 'missed', 'failed']);
export type TickOutcome = z.infer<typeof TickOutcome>;

export const Tick = z
  .object({
    tick_at: Time,
    outcome: TickOutcome,
    run_id: z.uuid().nullable(),
    error: z.string().nullable(),
    at: Time.meta({ description: 'when it was decided' }),
  })
  .meta({ id: 'Tick' });
export type Tick = z.infer<typeof Tick>;
