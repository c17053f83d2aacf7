// What waits to be written to one socket, and whether there is room for more.
import { setImmediate } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { LOW_BUFFERED, MAX_BUFFERED } from './outlet.ts';

export interface Outbox {
  /** Text, as it is on the wire. */
  send: (frame: string | Buffer) => void;
  isFull: () => boolean;
  /** Resolves when little waits, or the socket is closing. */
  room: () => Promise<void>;
}

export function createOutbox(socket: WebSocket): Outbox {
  let written: PromiseWithResolvers<void> | undefined;
  const holds = (bytes: number) => socket.readyState === socket.OPEN && socket.bufferedAmount > bytes;

  function progress(): void {
    written?.resolve();
    written = undefined;
  }

  return {
    isFull: () => holds(MAX_BUFFERED),
    send: (frame) => socket.send(frame, { binary: false }, progress),
    async room() {
      while (holds(LOW_BUFFERED)) {
        written ??= Promise.withResolvers();
        await written.promise;
        // A socket that breaks says so to its writers before it counts as closing.
        await setImmediate();
      }
    },
  };
}
