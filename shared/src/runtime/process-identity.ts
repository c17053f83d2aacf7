// What runs under a process id: enough to tell it from a later process that was given the same id.

import { execFileSync } from 'node:child_process';
import { basename } from 'node:path';
import { readProcessStat } from './process-stat.ts';

interface ProcessIdentity {
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
  const stat = readProcessStat(pid);
  return stat && { name: stat.name, started: String(stat.startedAt), parent: stat.parent };
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
