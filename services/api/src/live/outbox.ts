// What waits to be written to one socket, and whether there is room for more.
import { setImmediate } from 'node:timers/promises';
import type { ServerFrame } from '@wfg/shared/contract/live';
import type { WebSocket } from 'ws';

/** Bytes that may wait when a frame is added: beyond that a slow client falls behind in the table, not in here. */
export const MAX_BUFFERED = 1024 * 1024;

export interface Outbox {
  send: (frame: ServerFrame) => void;
  isFull: () => boolean;
  /** Resolves when it is not full, or the socket is closing. */
  room: () => Promise<void>;
}

export function createOutbox(socket: WebSocket): Outbox {
  let written = Promise.resolve();
  const isFull = () => socket.readyState === socket.OPEN && socket.bufferedAmount > MAX_BUFFERED;
  return {
    isFull,
    send(frame) {
      const { promise, resolve } = Promise.withResolvers<void>();
      written = promise;
      socket.send(JSON.stringify(frame), () => resolve());
    },
    async room() {
      while (isFull()) {
        await written;
        // A socket that breaks says so to its writers before it counts as closing.
        await setImmediate();
      }
    },
  };
}
