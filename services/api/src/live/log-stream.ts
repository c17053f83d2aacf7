// The log of one job as Server-Sent Events: the topic `logs`, with its frames written as events.
import type { ServerFrame } from '@wfg/shared/contract/live';
import type { LogChunk, LogPosition } from '@wfg/shared/contract/log';
import type { JobAttempts } from '@wfg/shared/queries/attempts';
import { startLoop } from '@wfg/shared/runtime/loop';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Credential } from '../access/credential.ts';
import { type EventSink, eventStream } from './event-stream.ts';
import type { Hub, Viewer } from './hub.ts';
import { logTopic } from './log-topic.ts';
import { TopicError } from './topic.ts';

/** After the last event the loop has nothing to do until it is disposed of. */
const OVER_MS = 24 * 3_600_000;

export interface StreamSettings {
  pool: pg.Pool;
  log: Logger;
  hub: Hub;
  pollMs: () => number;
  /** What the reader showed. */
  credential: Credential | null;
}

/** Everything behind `after`, then what is printed, then the end. Nothing is followed unless the stream is read. */
export function logStream(
  job: JobAttempts,
  after: LogPosition | undefined,
  settings: StreamSettings,
): ReadableStream<Uint8Array> {
  return eventStream((sink) => follow(job, after, sink, settings));
}

function follow(
  job: JobAttempts,
  after: LogPosition | undefined,
  sink: EventSink,
  { pool, log, hub, pollMs, credential }: StreamSettings,
): void {
  const topic = logTopic(
    {
      op: 'subscribe',
      id: 'stream',
      topic: 'logs',
      run: job.run_id,
      job: job.job_id,
      after: after && `${after.attempt}:${after.sequence}`,
    },
    { pool, pollMs, send: (frame) => sendFrame(sink, job, frame) },
  );

  async function step(): Promise<number> {
    try {
      const next = await topic.step();
      if (next !== null) return next;
    } catch (error) {
      // The run was removed meanwhile.
      if (!(error instanceof TopicError)) throw error;
    }
    sink.end();
    return OVER_MS;
  }

  const loop = startLoop({ name: 'log stream', log, step });
  const closed = sink.over.then(() => loop[Symbol.asyncDispose]());
  const viewer: Viewer = {
    hear: (bell) => topic.concerns(bell) && loop.wake(),
    close() {
      sink.end();
      return closed;
    },
    closed,
  };
  hub.add(viewer, credential);
}

/** An attempt is not announced: every chunk says which it is of. */
async function sendFrame(sink: EventSink, job: JobAttempts, frame: ServerFrame): Promise<void> {
  if (frame.op === 'log') {
    const { workflow_id, run_id, job_id } = job;
    const { attempt, sequence, line, data, timestamp_ms, stream } = frame;
    const chunk: LogChunk = {
      workflow_id,
      run_id,
      job_id,
      attempt,
      sequence,
      line,
      data,
      timestamp_ms,
      stream,
    };
    await sink.send(`event: log\nid: ${attempt}:${sequence}\ndata: ${JSON.stringify(chunk)}\n\n`);
  } else if (frame.op === 'end') {
    const { state, attempt, chunks } = frame;
    await sink.send(`event: end\ndata: ${JSON.stringify({ state, attempt, chunks })}\n\n`);
  }
}
