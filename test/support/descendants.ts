// What a process has started, and what that has started.
import { readdirSync } from 'node:fs';
import { readProcessStat } from '@wfg/shared/runtime/process-stat';

/** The ids of all living descendants of a process; without /proc there are none. */
export function descendantsOf(pid: number): number[] {
  const stats = readdirSync('/proc').map((name) => readProcessStat(Number(name)));
  const tree = new Set([pid]);
  // A set that grows while it is walked is walked to its end.
  for (const parent of tree) for (const stat of stats) if (stat?.parent === parent) tree.add(stat.pid);
  return [...tree].filter((member) => member !== pid);
}
