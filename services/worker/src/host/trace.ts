// Traces what goes wrong in a process that runs many handlers to the attempt it belongs to.
import { AsyncLocalStorage } from 'node:async_hooks';

export interface Suspect {
  /** Of its attempt. */
  id: number;
  /** Ends the attempt as if its handler had thrown this. */
  blame: (thrown: unknown) => void;
}

const running = new AsyncLocalStorage<Suspect>();

/** Runs a handler: whatever it starts, however much later, is traced to it. */
export function trace<T>(suspect: Suspect, run: () => T): T {
  return running.run(suspect, run);
}

/** Whose code this is called from; undefined when it is nobody's. */
export function suspect(): Suspect | undefined {
  return running.getStore();
}
