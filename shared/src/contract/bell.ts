// What is rung on the channel wfg_events: hints to look again at rows, never the only copy of anything.
// The one exception is stop_worker, which people send by hand.

import { z } from 'zod';
import { jsonOrUndefined } from './json.ts';

export const BELL_CHANNEL = 'wfg_events';

/** pg_task's channel: its users send stop_worker there. Nothing of our own is rung on it. */
export const TASK_CHANNEL = 'pg_task_changed';

/** Largest payload that is rung, in bytes: PostgreSQL refuses 8,000 and more. */
export const BELL_MAX_BYTES = 7_900;

const flag = z.literal(true).optional();
const ids = z.array(z.string()).optional();

export const Bell = z.object({
  v: z.literal(1),
  /** Lane (a 64-bit hash as decimal text) → how many jobs became claimable in it. */
  lanes: z.record(z.string(), z.number()).optional(),
  /** Lane → the labels that it requires. Of a lane that is not here they are not known: everyone looks. */
  requires: z.record(z.string(), z.array(z.string())).optional(),
  /** Chooses who of those that could take what is in the lanes looks (rules/chosen.ts); without it everyone does. */
  nonce: z.int().nonnegative().optional(),
  /** Jobs of runs have finished: schedulers look. */
  settle: flag,
  /** Runs whose rows changed. */
  runs: ids,
  /** Job keys that have new log rows. */
  logs: ids,
  /** Job keys whose logs somebody follows: for a while their writers ring `logs`, which they else do not. */
  watch: ids,
  /** Runs with a new cancel request. */
  cancel: ids,
  /** A token was changed, or a session ended: apis ask for rights anew. */
  tokens: flag,
  /** Rung only to be heard: proves that listening works. */
  beat: flag,
  /** The ids were too many to list: everyone looks at everything. */
  all: flag,
});
export type Bell = z.infer<typeof Bell>;

/** What a process rings; the version is added on the wire, and the nonce unless everyone is meant. */
export interface Hint extends Omit<Bell, 'v' | 'nonce'> {
  /** Few have looked, and the jobs are still there: all who can take them are to look. */
  everyone?: true | undefined;
}

const StopWorker = z.object({ type: z.literal('stop_worker'), worker_id: z.string().nullish() });

type Heard = { bell: Bell } | { stop: { workerId: string | null } };

/**
 * Reads a payload and never throws. What is not understood (rung by hand, or by a newer version while an
 * upgrade rolls out) means "look at everything": too much looking is harmless, a missed hint is a delay.
 */
export function parseBell(payload: string | undefined): Heard {
  if (payload === 'stop_worker') return { stop: { workerId: null } };
  const value = jsonOrUndefined(payload ?? '');
  const stop = StopWorker.safeParse(value);
  if (stop.success) return { stop: { workerId: stop.data.worker_id ?? null } };
  const bell = Bell.safeParse(value);
  return { bell: bell.success ? bell.data : { v: 1, all: true } };
}
