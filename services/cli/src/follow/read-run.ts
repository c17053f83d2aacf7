// A run as it is now, by the connection that follows it: also while the server is being restarted.
import type { Run } from '@wfg/shared/contract/run';
import type { LiveClient } from '../live-client.ts';

/** Rejects as `live.failed` does. */
export async function readRun(live: LiveClient, run: string): Promise<Run> {
  const { promise, resolve } = Promise.withResolvers<Run>();
  const leave = live.subscribe({
    topic: () => ({ topic: 'run', run }),
    receive(frame) {
      if (frame.op === 'snapshot' && 'run' in frame) resolve(frame.run);
    },
  });
  try {
    return await Promise.race([promise, live.failed]);
  } finally {
    leave();
  }
}
