// Follows by WebSocket, and keeps every frame.
import { ServerFrame } from '@wfg/shared/contract/live';
import { WebSocket } from 'ws';
import { waitFor } from './wait-for.ts';

export type Frame<O extends ServerFrame['op']> = Extract<ServerFrame, { op: O }>;

const isOf = <O extends ServerFrame['op']>(frame: ServerFrame, op: O): frame is Frame<O> => frame.op === op;

export interface Viewer {
  socket: WebSocket;
  frames: ServerFrame[];
  of: <O extends ServerFrame['op']>(op: O) => Frame<O>[];
}

/** Connects and subscribes. */
export async function view(url: string, ...subscriptions: object[]): Promise<Viewer> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, 'wfg.v1');
  const frames: ServerFrame[] = [];
  socket.on('message', (data: Buffer) => frames.push(ServerFrame.parse(JSON.parse(data.toString('utf8')))));
  socket.on('open', () => {
    for (const subscription of subscriptions)
      socket.send(JSON.stringify({ op: 'subscribe', ...subscription }));
  });
  await waitFor('the socket to open', () => socket.readyState === WebSocket.OPEN);
  return { socket, frames, of: (op) => frames.filter((frame) => isOf(frame, op)) };
}
