// For tests: runs commands as a worker does, and finds their processes without help of the code under test.

import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { LogChunk } from './log-writer.ts';
import { type CommandIo, type CommandJob, type CommandResult, runCommand } from './run-command.ts';
import type { Spawner } from './spawner.ts';

export const quiet = { warn: () => undefined };

export interface Ran extends CommandResult {
  chunks: LogChunk[];
  stdout: string;
  stderr: string;
}

/** `run` is a plain command; all else as in CommandJob and CommandIo. */
export async function run(
  spawner: Spawner,
  job: string | Partial<CommandJob>,
  io: Partial<CommandIo> = {},
): Promise<Ran> {
  const chunks: LogChunk[] = [];
  const result = await runCommand(
    {
      runId: '0198c0de-0000-7000-8000-000000000000',
      attempt: 0,
      try: 1,
      workflowId: 'ci',
      jobId: 'build',
      env: {},
      run: null,
      steps: null,
      timeoutSecs: null,
      upstream: {},
      mask: [],
      ...(typeof job === 'string' ? { run: job } : job),
    },
    {
      spawner,
      workerId: 'w1',
      patience: { graceMs: 5_000 },
      logMaxBytes: 2 ** 30,
      signal: new AbortController().signal,
      log: { write: (chunk) => void chunks.push(chunk) },
      ...io,
    },
  );
  const textOf = (stream: string) =>
    chunks
      .filter((chunk) => chunk.stream === stream)
      .map((chunk) => chunk.data)
      .join('');
  return { ...result, chunks, stdout: textOf('stdout'), stderr: textOf('stderr') };
}

/** A variable that processes are found by. */
export function newMark(): { name: string; value: string } {
  return { name: 'TEST_MARK', value: randomUUID() };
}

/** The pids, zombies apart, whose environment or command line holds the text. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
    .filter((pid) => [`environ`, 'cmdline'].some((file) => read(`/proc/${pid}/${file}`).includes(text)));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
