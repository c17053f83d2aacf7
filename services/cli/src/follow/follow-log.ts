// Follows the log of one job to its end, across reconnects.
import type { LogPosition } from '@wfg/shared/contract/log';
import { connectLive } from '../live-client.ts';
import { say } from '../output.ts';
import type { Server } from '../server.ts';
import type { LogWriter } from './log-writer.ts';

interface FollowedJob {
  run: string;
  job: string;
  /** This one alone; undefined: all there are and all to come. */
  attempt: number | undefined;
}

/** Resolves when the job's last attempt, or the named one, has ended and is written. */
export async function followLog(
  server: Server,
  { run, job, attempt }: FollowedJob,
  writer: LogWriter,
): Promise<void> {
  const live = connectLive(server, say);
  const ended = Promise.withResolvers<void>();
  let last: LogPosition | undefined;
  live.subscribe({
    topic: () => ({
      topic: 'logs',
      run,
      job,
      ...(attempt === undefined ? {} : { attempt }),
      ...(last === undefined ? {} : { after: `${last.attempt}:${last.sequence}` }),
    }),
    receive(frame) {
      if (frame.op === 'end') ended.resolve();
      if (frame.op !== 'log') return;
      last = { attempt: frame.attempt, sequence: frame.sequence };
      writer.chunk(frame);
    },
  });
  try {
    await Promise.race([ended.promise, live.failed]);
  } finally {
    live.close();
  }
}
