// The log of one job as Server-Sent Events: the topic `logs`, with its frames written as events.
import type { LogChunk, LogPosition } from '@wfg/shared/contract/log';
import type { JobAttempts } from '@wfg/shared/queries/attempts';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Credential } from '../access/credential.ts';
import { type EventSink, eventStream } from './event-stream.ts';
import type { Feeds } from './feeds.ts';
import type { Hub } from './hub.ts';
import { subscribeLog } from './log-subscription.ts';
import { MAX_BUFFERED, type Outlet } from './outlet.ts';
import type { Frame } from './shared-frame.ts';

export interface StreamSettings {
  pool: pg.Pool;
  log: Logger;
  hub: Hub;
  feeds: Feeds;
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
  settings: StreamSettings,
): void {
  const outlet: Outlet = {
    form: { key: 'events', encode: ({ frame }) => Buffer.from(eventOf(job, frame)) },
    isFull: () => sink.waiting() > MAX_BUFFERED,
    room: sink.asked,
    inTurn: (work) => work(),
    send(frame) {
      sink.send(frame.as(outlet.form));
      if (frame.frame.op === 'end') sink.end();
    },
    // The run was removed meanwhile.
    refuse: sink.end,
  };
  const { run_id, job_id } = job;
  const place = after && `${after.attempt}:${after.sequence}`;
  const subscription = subscribeLog({ run: run_id, job: job_id, after: place }, outlet, settings);
  const closed = sink.over.then(() => subscription[Symbol.dispose]());
  settings.hub.add(
    {
      closed,
      close() {
        sink.end();
        return closed;
      },
    },
    settings.credential,
  );
}

/** An attempt is not announced: every chunk says which it is of. */
function eventOf({ workflow_id, run_id, job_id }: JobAttempts, frame: Frame): string {
  if (frame.op === 'log') {
    const { attempt, sequence, line, data, timestamp_ms, stream } = frame;
    const of = { workflow_id, run_id, job_id };
    const chunk: LogChunk = { ...of, attempt, sequence, line, data, timestamp_ms, stream };
    return `event: log\nid: ${attempt}:${sequence}\ndata: ${JSON.stringify(chunk)}\n\n`;
  }
  if (frame.op !== 'end') return '';
  const { state, attempt, chunks } = frame;
  return `event: end\ndata: ${JSON.stringify({ state, attempt, chunks })}\n\n`;
}
