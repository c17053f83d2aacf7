// Keeps commands running until a test has seen what it wants to see.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';

export interface Gate {
  /** It is open when this file is there. */
  path: string;
  /** A shell command that ends when the gate is opened. */
  wait: string;
  open: () => Promise<void>;
}

export function newGate(): Gate {
  const path = join(inject('runFolder'), `gate-${randomUUID()}`);
  return { path, wait: `until test -e '${path}'; do sleep 0.02; done`, open: () => writeFile(path, '') };
}
