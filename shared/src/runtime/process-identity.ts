// What runs under a process id: enough to tell it from a later process that was given the same id.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

export interface ProcessIdentity {
  /** Name of the program, as the system shows it. */
  name: string;
  /** When it began, in the system's own form: only good for comparing. */
  started: string;
  /** The id of the process that started it, or of who inherited it. */
  parent: number;
}

/** The process that has this id now; undefined when there is none, or only its unreaped remains. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

function fromProc(pid: number): ProcessIdentity | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name stands in brackets and may hold brackets and spaces itself: the fields count from the last one.
  const nameEnd = stat.lastIndexOf(')');
  const fields = stat.slice(nameEnd + 2).split(' ');
  if (fields[0] === 'Z') return undefined;
  const name = stat.slice(stat.indexOf('(') + 1, nameEnd);
  return { name, started: fields[19] ?? '', parent: Number(fields[1]) };
}

function fromPs(pid: number): ProcessIdentity | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'lstart=', '-o', 'ppid=', '-o', 'comm=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    // lstart is always 24 characters: "Mon Nov 30 10:00:00 2026".
    const [, parent = '', name = ''] = /^\s*(\d+)\s+(.*)$/.exec(line.slice(24)) ?? [];
    return { name: basename(name), started: line.slice(0, 24), parent: Number(parent) };
  } catch {
    return undefined;
  }
}
