// One visit of a reader to an api, over a WebSocket or as Server-Sent Events: from where it was until it is told the end,
// loses the connection or has had enough.
import { setTimeout as sleep } from 'node:timers/promises';
import { readEvents } from '@wfg/shared/client/read-events';
import { ServerFrame } from '@wfg/shared/contract/live';
import { LogEvent } from '@wfg/shared/contract/log';
import { dial } from '../support/socket.ts';
import type { LogReader } from './log-reader.ts';

export interface Visit {
  url: string;
  run: string;
  job: string;
  /** Milliseconds until the reader goes away. */
  stay: number;
  /** Now and then it reads nothing for up to so many milliseconds; 0 for one who reads all that comes. */
  pause: number;
}

export type Visiting = (visit: Visit, reader: LogReader) => Promise<void>;

/** A server that is not well now may say so. */
const PASSING = new Set(['unavailable', 'internal']);

export async function visitBySocket({ url, run, job, stay, pause }: Visit, reader: LogReader): Promise<void> {
  const { after } = reader;
  const socket = dial(url, { handshakeTimeout: 10_000 });
  // Not `once` of node:events, which fails at an error.
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => undefined);
  socket.on('open', () => {
    const asked = { op: 'subscribe', id: 'log', topic: 'logs', run, job, ...(after && { after }) };
    socket.send(JSON.stringify(asked));
  });
  socket.on('message', (data: Buffer) => {
    const frame = ServerFrame.parse(JSON.parse(data.toString('utf8')));
    if (frame.op === 'log') reader.take(frame);
    else if (frame.op === 'end') {
      reader.finish(frame);
      socket.close();
    } else if (frame.op === 'error') {
      if (!PASSING.has(frame.code)) reader.refuse(frame.detail);
      socket.terminate();
    }
  });
  const leaving = setTimeout(() => socket.terminate(), stay);
  const pausing = setInterval(() => {
    if (pause === 0) return;
    socket.pause();
    setTimeout(() => socket.resume(), Math.random() * pause);
  }, pause + 1_000);
  await closed;
  clearTimeout(leaving);
  clearInterval(pausing);
}

export async function visitByStream({ url, run, job, stay, pause }: Visit, reader: LogReader): Promise<void> {
  const { after } = reader;
  const leaving = new AbortController();
  const timer = setTimeout(() => leaving.abort(), stay);
  try {
    const response = await fetch(`${url}/api/runs/${run}/jobs/${job}/logs/stream`, {
      headers: after === undefined ? {} : { 'last-event-id': after },
      signal: leaving.signal,
    });
    if (!response.ok || !response.body) {
      if (response.status < 500) reader.refuse(`${response.status} ${await response.text()}`);
      return;
    }
    let pausedAt = performance.now();
    for await (const { event, id, data } of readEvents(response.body)) {
      const said = LogEvent.parse({ event, id, data: JSON.parse(data) });
      if (said.event === 'log') reader.take(said.data);
      else reader.finish(said.data);
      if (pause === 0 || performance.now() - pausedAt < pause + 1_000) continue;
      await sleep(Math.random() * pause, undefined, { signal: leaving.signal });
      pausedAt = performance.now();
    }
  } catch {
    // The connection was lost, or the reader is leaving.
  } finally {
    clearTimeout(timer);
    leaving.abort();
  }
}
