// Waits until the output of commands that ended has been read, but not for a daemon that keeps it open.

import { setImmediate } from 'node:timers/promises';
import type { Reading } from './job-output.ts';
import { within } from './within.ts';

/** For helpers that still pass output on, like the tee in `exec > >(tee log)`. */
const QUIET_MS = 100;
/** For a daemon that writes now and then. */
const LONGEST_MS = 2_000;
/** The largest pipe there is: a daemon that wrote as much has pushed out what was in it before. */
const LARGEST_PIPE_BYTES = 1_048_576;

/**
 * Resolves at the `end` of the streams; at the latest when all that was in them at the time of the call has been read
 * and they were silent for 100 ms, or 2 s have passed. While reading is paused nothing counts as silence.
 */
export async function drainOutput(reading: Readonly<Reading>, end: Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  const bytesBefore = reading.bytes;
  while (!(await wasSilent(reading, () => within(end, QUIET_MS)))) {
    if (reading.bytes - bytesBefore > LARGEST_PIPE_BYTES) return;
    if (performance.now() - startedAt > LONGEST_MS && (await wasSilent(reading, async () => false))) return;
  }
}

/** Whether nothing came until `time` has resolved, with true if that is the end of all. */
async function wasSilent(reading: Readonly<Reading>, time: () => Promise<boolean>): Promise<boolean> {
  const { bytes, pauses } = reading;
  if (await time()) return true;
  // A busy process runs its timers late and before it reads: let it read what is there.
  await setImmediate();
  await setImmediate();
  return !reading.isPaused && reading.bytes === bytes && reading.pauses === pauses;
}
