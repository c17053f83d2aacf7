// kill -9 of a worker, and the end of what it was executing.
import type { Cluster } from './cluster.ts';
import { commandLine, processesWith } from './left-processes.ts';
import { waitFor } from './wait-for.ts';

/** A killed worker's commands must be gone by then. */
const GONE_MS = 5_000;

/**
 * Kills one worker and starts another in its place; fails when a command of the killed one lives on. `mark` is in the
 * environment of all that are looked for. Returns how many there were.
 */
export async function killWorker(cluster: Cluster, index: number, mark: string): Promise<number> {
  const marks = [mark, `WFG_WORKER_ID=worker-${index + 1}\0`];
  const before = processesWith(...marks);
  await cluster.kill('worker', index);
  await waitFor(
    'the killed worker’s processes to end',
    () => {
      const left = processesWith(...marks).filter((pid) => before.includes(pid));
      if (left.length > 0) throw new Error(`alive: ${left.map(commandLine).join('; ')}`);
      return true;
    },
    GONE_MS,
  );
  return before.length;
}
