// What the kernel says of a process in /proc/<pid>/stat.
import { readFileSync } from 'node:fs';

export interface ProcessStat {
  pid: number;
  /** Name of the program, at most 15 bytes. */
  name: string;
  /** The id of the process that started it, or of who inherited it. */
  parent: number;
  group: number;
  session: number;
  /** In clock ticks since boot; with the pid it names a process for ever. */
  startedAt: number;
}

/** Undefined when no process has this id, or only the remains of one that nobody has reaped. */
export function readProcessStat(pid: number): ProcessStat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The name stands in brackets and may hold brackets and spaces itself: the fields count from the last one.
  const nameEnd = text.lastIndexOf(')');
  const [state, parent, group, session, ...rest] = text.slice(nameEnd + 2).split(' ');
  if (state === undefined || 'ZXx'.includes(state)) return undefined;
  return {
    pid,
    name: text.slice(text.indexOf('(') + 1, nameEnd),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startedAt: Number(rest[15]),
  };
}
