// What the processes of viewers, and of the bare server, are told and say.
import { z } from 'zod';

export const ToViewers = z.discriminatedUnion('op', [
  /** Says when so many have come that were in no report and not expected before. */
  z.object({ op: z.literal('expect'), messages: z.number() }),
  z.object({ op: z.literal('report') }),
]);
export type ToViewers = z.infer<typeof ToViewers>;

export const FromViewers = z.discriminatedUnion('op', [
  z.object({ op: z.literal('open') }),
  z.object({ op: z.literal('reached') }),
  /** Since the last report; milliseconds from a line's time to its reader, 0 where no line told its time. */
  z.object({
    op: z.literal('report'),
    messages: z.number(),
    bytes: z.number(),
    p50: z.number(),
    p99: z.number(),
    worst: z.number(),
  }),
]);
export type FromViewers = z.infer<typeof FromViewers>;

export const ToBare = z.object({ messages: z.number(), text: z.string() });
export type ToBare = z.infer<typeof ToBare>;
export const FromBare = z.object({ port: z.number() });
