// Reads /proc: which processes belong to the trees of some commands.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { type ProcessStat, readProcessStat } from '@wfg/shared/runtime/process-stat';
import { MARK } from './spawner/protocol.ts';

export interface Tree {
  /** The command's shell, which leads a session and a process group of its own. Null: not known, or no group left. */
  pid: number | null;
  /** The shell is gone, so that its pid may by now be another process's. */
  ended: boolean;
  /** The value of MARK in the environment of everything the attempt started. Null: of the tree only the group counts. */
  mark: string | null;
}

export type Process = Pick<ProcessStat, 'pid' | 'startedAt' | 'group'>;

interface Row extends ProcessStat {
  mark: string | null;
}

/** Between two pauses for other work; a process costs 20 to 50 µs. */
const PROCESSES_AT_A_TIME = 64;

export const hasProcessTable = existsSync('/proc/self/stat');

/**
 * Every living process of the trees, in no order; but for one that has left the session, cleared its environment and
 * lost its parent: nothing in the table says any more whose it is, unless it is one of those that were found `before`.
 */
export async function findProcesses(
  trees: readonly Tree[],
  before: readonly Process[] = [],
): Promise<Process[]> {
  const rows = await readTable();
  const { bare = [], whole = [] } = Object.groupBy(trees, ({ mark }) => (mark === null ? 'bare' : 'whole'));
  const bareGroups = groupsOf(bare, rows);
  const groups = groupsOf(whole, rows);
  const marks = new Set(whole.map((tree) => tree.mark));
  const known = new Map(whole.length === 0 ? [] : before.map(({ pid, startedAt }) => [pid, startedAt]));
  const ours = (row: Row) =>
    known.get(row.pid) === row.startedAt ||
    (row.mark === null ? groups.has(row.group) || groups.has(row.session) : marks.has(row.mark));
  return [...rows.filter((row) => bareGroups.has(row.group)), ...withDescendants(rows.filter(ours), rows)];
}

/** A group's number is taken while it has members. If its leader is gone and the pid is used again, the group is new. */
function groupsOf(trees: readonly Tree[], rows: readonly Row[]): Set<number> {
  const pids = new Set(rows.map((row) => row.pid));
  return new Set(trees.flatMap(({ pid, ended }) => (pid === null || (ended && pids.has(pid)) ? [] : [pid])));
}

/** False for a zombie, and for a pid that is used again. */
export function isAlive({ pid, startedAt }: Process): boolean {
  return readProcessStat(pid)?.startedAt === startedAt;
}

/** A child that cleared its environment and left the session is still its parent's child. */
function withDescendants(found: Row[], rows: readonly Row[]): Row[] {
  const children = Map.groupBy(rows, (row) => row.parent);
  const all = new Set(found);
  // A set that grows while it is walked is walked to its end.
  for (const row of all) for (const child of children.get(row.pid) ?? []) all.add(child);
  return [...all];
}

async function readTable(): Promise<Row[]> {
  const rows: Row[] = [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  for (const [index, name] of pids.entries()) {
    if (index % PROCESSES_AT_A_TIME === PROCESSES_AT_A_TIME - 1) await setImmediate();
    const stat = readProcessStat(Number(name));
    if (stat) rows.push({ ...stat, mark: readMark(stat.pid) });
  }
  return rows;
}

/** Null also for a process of another user, whose environment is not for us. */
function readMark(pid: number): string | null {
  const entry = `\0${MARK}=`;
  const text = `\0${readEnvironment(pid)}`;
  const at = text.indexOf(entry);
  return at < 0 ? null : text.slice(at + entry.length, text.indexOf('\0', at + entry.length));
}

function readEnvironment(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}
