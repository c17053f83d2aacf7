// How long a job waits before a try is repeated.
import { z } from 'zod';

const Seconds = z.int().min(0).max(1_000_000_000);
const Jitter = z.number().min(0).max(1).optional();

const BACKOFF_FORMS =
  'must be "None", { Fixed: { delay_secs: N } } or { Exponential: { base_secs: B, max_secs: M } }, each with jitter? 0..1';
/** How long to wait before a try is repeated; see wfg_backoff() for the formula. */
export const Backoff = z.union(
  [
    z.literal('None'),
    z.strictObject({ Fixed: z.strictObject({ delay_secs: Seconds, jitter: Jitter }) }),
    z.strictObject({
      Exponential: z.strictObject({ base_secs: Seconds, max_secs: Seconds, jitter: Jitter }),
    }),
  ],
  { error: BACKOFF_FORMS },
);
export type Backoff = z.infer<typeof Backoff>;
