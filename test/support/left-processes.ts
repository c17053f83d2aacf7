// Finds processes that tests started and left running.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { waitFor } from './wait-for.ts';

/**
 * Waits up to 5 s until no process has `mark` in its environment, then kills those that have and returns
 * their command lines. Without /proc it finds none.
 */
export async function endLeftProcesses(mark: string): Promise<string[]> {
  if (!existsSync('/proc/self/environ')) return [];
  try {
    await waitFor('all processes of the tests to end', () => processesWith(mark).length === 0, 5_000);
    return [];
  } catch {
    const left = processesWith(mark);
    const commands = left.map(commandLine);
    for (const pid of left) process.kill(pid, 'SIGKILL');
    return commands;
  }
}

/** The ids of all processes with all of these texts in their environment. */
export function processesWith(...marks: string[]): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && hasAll(readProc(pid, 'environ'), marks));
}

function hasAll(text: string, marks: string[]): boolean {
  return marks.every((mark) => text.includes(mark));
}

/** The id and the command line of a process. */
export function commandLine(pid: number): string {
  return `${pid} ${readProc(pid, 'cmdline').replaceAll('\0', ' ')}`;
}

function readProc(pid: number, file: 'environ' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // Ended meanwhile, or another user's.
    return '';
  }
}
