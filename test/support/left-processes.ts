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
    const commands = left.map((pid) => `${pid} ${readProc(pid, 'cmdline').replaceAll('\0', ' ')}`);
    for (const pid of left) process.kill(pid, 'SIGKILL');
    return commands;
  }
}

/** The ids of all processes with this text in their environment. */
export function processesWith(mark: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && readProc(pid, 'environ').includes(mark));
}

function readProc(pid: number, file: 'environ' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // Ended meanwhile, or another user's.
    return '';
  }
}
