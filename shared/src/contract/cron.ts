// How it is said when something is to happen: a cron expression, its time zone, and what becomes of ticks missed.
import { z } from 'zod';

/** Whether it ticks at all is judged by rules/cron.ts. */
export const Cron = z
  .string({ error: 'must be text, like "30 2 * * *"' })
  .min(1, 'must not be empty')
  .max(200, 'is longer than 200 characters');

export const Timezone = z.string({ error: 'must be text, like "Europe/Berlin"' }).max(100, 'is no time zone');

/**
 * Of ticks that passed while no scheduler was there: `skip` starts nothing (a tick less than a minute late still does),
 * `last` starts what the latest of them should have, `all` what each should have, the latest 1,000 of them.
 */
export const CatchUp = z.enum(['skip', 'last', 'all'], { error: 'must be skip, last or all' });
export type CatchUp = z.infer<typeof CatchUp>;

export const DEFAULT_TIMEZONE = 'UTC';
export const DEFAULT_CATCH_UP: CatchUp = 'last';

/** One of `on.schedule` in a workflow. */
export const CronTrigger = z.strictObject({
  cron: Cron,
  timezone: Timezone.optional(),
  catch_up: CatchUp.optional(),
});
