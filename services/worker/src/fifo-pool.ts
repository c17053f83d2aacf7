// Named pipes for the output of commands. Node connects children by sockets, on which a script's
// `echo … > /dev/stderr` fails; and what reads a pipe pauses the child through the kernel.

import { join } from 'node:path';
import { messageOf } from '@wfg/shared/rules/message-of';
import { SpawnerError } from './spawn-error.ts';

/** One start of mkfifo is shared by this many. */
const BATCH = 128;
const LOW = 32;

export interface FifoPool {
  /** The path of a pipe that nobody had before. Rejects with SpawnerError when none can be made. */
  take: () => Promise<string>;
}

/** `make` creates pipes at the given paths. */
export function createFifoPool(dir: string, make: (paths: string[]) => Promise<void>): FifoPool {
  const free: string[] = [];
  let made = 0;
  let making: Promise<void> | null = null;

  async function refill(): Promise<void> {
    const paths = Array.from({ length: BATCH }, () => join(dir, `fifo-${++made}`));
    try {
      await make(paths);
      free.push(...paths);
    } catch (err) {
      throw new SpawnerError(`no pipes for output: ${messageOf(err)}`, { cause: err });
    } finally {
      making = null;
    }
  }

  return {
    async take() {
      if (free.length < LOW) {
        making ??= refill();
        // In advance nobody waits for it; whoever finds none does, and is told.
        making.catch(() => undefined);
      }
      for (;;) {
        const path = free.pop();
        if (path !== undefined) return path;
        await (making ??= refill());
      }
    },
  };
}
