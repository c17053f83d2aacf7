// Ends everything that commands started: first politely, then for sure.

import { setTimeout as sleep } from 'node:timers/promises';
import { findProcesses, hasProcessTable, isAlive, type Process, type Tree } from './process-table.ts';

/** For SIGKILL to take effect; longer needs only a process that hangs in the kernel. */
const KILL_MS = 4_000;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;

/** How long to be polite, and who is told when that is over. */
export interface Patience {
  /** From SIGTERM to SIGKILL; 0: SIGKILL at once. */
  graceMs: number;
  /** Ends the grace when aborted. */
  hurry?: AbortSignal;
  /** Called if something is left when the grace is over. */
  onForce?: () => void;
}

/**
 * Sends SIGTERM to all processes of the trees, after the grace SIGKILL, until none is left, also of those born
 * meanwhile. Returns the pids of what could not be killed within 4 s more. Never throws.
 * Where there is no /proc only the process groups are known.
 */
export async function killTrees(trees: readonly Tree[], patience: Patience): Promise<number[]> {
  if (trees.length === 0) return [];
  const hunt: Hunt = { trees, seen: new Map() };
  if (patience.graceMs > 0) await terminate(hunt, patience);
  return kill(hunt);
}

interface Hunt {
  trees: readonly Tree[];
  /** What was found, by pid: to kill a parent can take away the only sign of whose child something is. */
  seen: Map<number, Process>;
}

/** Whether a process group has members, zombies included. */
export function groupExists(pid: number): boolean {
  return send(-pid, 0);
}

async function terminate(hunt: Hunt, { graceMs, hurry, onForce }: Patience): Promise<void> {
  const deadline = performance.now() + graceMs;
  signalAll(hunt.trees, await find(hunt), 'SIGTERM');
  let pause = FIRST_PAUSE_MS;
  // What is born from now on, like the clean-up of a trap, has the grace but gets no signal.
  for (let left = await find(hunt); left.length > 0; ) {
    const remaining = deadline - performance.now();
    if (remaining <= 0 || hurry?.aborted) return onForce?.();
    await sleep(Math.min(pause, remaining));
    pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS);
    if (!left.some(isLeft)) left = await find(hunt);
  }
}

/** A child may be born behind the back of one look at the table, so only two clean ones in a row count. */
async function kill(hunt: Hunt): Promise<number[]> {
  const deadline = performance.now() + KILL_MS;
  let pause = FIRST_PAUSE_MS;
  for (let clean = 0; ; ) {
    const left = await freeze(hunt, deadline);
    clean = left.length === 0 ? clean + 1 : 0;
    if (clean === 2) return [];
    if (performance.now() > deadline) return left.map(({ pid }) => Math.abs(pid));
    signalAll(hunt.trees, left, 'SIGKILL');
    await sleep(pause);
    pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS);
  }
}

/**
 * Stops all that is left, until a look finds nothing new, and returns it: what is stopped starts nothing any more, and
 * is still there to be seen as the parent of what it had started.
 */
async function freeze(hunt: Hunt, deadline: number): Promise<Process[]> {
  const stopped = new Set<number>();
  for (;;) {
    const found = await find(hunt);
    const fresh = found.filter(({ pid }) => !stopped.has(pid));
    if (fresh.length === 0 || performance.now() > deadline) return found;
    signalAll(hunt.trees, fresh, 'SIGSTOP');
    for (const { pid } of fresh) stopped.add(pid);
  }
}

/** Each process gets it once: many programs take a second SIGTERM for an order to drop everything. */
function signalAll(trees: readonly Tree[], found: readonly Process[], signal: NodeJS.Signals): void {
  // As a whole, since the kernel lets no member of a group fork past that. The number of a shell that is gone
  // may be another's.
  const groups = new Set(trees.flatMap(({ pid, ended }) => (pid === null || ended ? [] : [pid])));
  for (const group of groups) send(-group, signal);
  for (const { pid, group } of found) if (!groups.has(group)) send(pid, signal);
}

/** Without /proc a group stands for its members. */
async function find({ trees, seen }: Hunt): Promise<Process[]> {
  if (hasProcessTable) {
    const found = await findProcesses(trees, [...seen.values()]);
    for (const process of found) seen.set(process.pid, process);
    return found;
  }
  const groups = trees.flatMap(({ pid }) => (pid !== null && groupExists(pid) ? [pid] : []));
  return groups.map((group) => ({ pid: -group, startedAt: 0, group }));
}

function isLeft(process: Process): boolean {
  return hasProcessTable ? isAlive(process) : send(process.pid, 0);
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
