// The disk of one attempt: an empty working directory, another for everything else, and the files wfg reads and writes.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from './remove-tree.ts';
import type { Log } from './running-command.ts';

/** Of a command passed as an argument; a longer one runs from a file. */
const MAX_ARGUMENT_BYTES = 65_536;

export interface JobDir extends AsyncDisposable {
  work: string;
  /** Also for temporary files, since folders are what costs a short job most on disk. */
  home: string;
  outputFile: string;
  /** Null without upstream jobs. */
  upstreamFile: string | null;
  /** The arguments with which sh runs this text. */
  shellArgs: (run: string) => Promise<string[]>;
}

interface Owner {
  baseDir: () => string;
  log: Log;
}

/** Rejects, leaving nothing, for a fault of the disk. What cannot be removed afterwards is logged and stays. */
export async function makeJobDir(
  { baseDir, log }: Owner,
  upstream: Record<string, unknown>,
): Promise<JobDir> {
  const upstreamText = JSON.stringify(upstream);
  const work = await mkdtemp(join(baseDir(), 'job-'));
  const home = `${work}.home`;
  const outputFile = `${work}.output`;
  const upstreamFile = Object.keys(upstream).length > 0 ? `${work}.upstream.json` : null;
  const scripts: string[] = [];

  const dir: JobDir = {
    work,
    home,
    outputFile,
    upstreamFile,
    async shellArgs(run) {
      if (Buffer.byteLength(run) <= MAX_ARGUMENT_BYTES) return ['-c', '--', run];
      const path = `${work}.script-${scripts.length + 1}`;
      scripts.push(path);
      await writeOwn(path, run);
      return [path];
    },
    async [Symbol.asyncDispose]() {
      const files = [outputFile, ...(upstreamFile === null ? [] : [upstreamFile]), ...scripts];
      const removals = [
        ...files.map((file) => rm(file, { recursive: true, force: true })),
        ...[work, home].map(removeTree),
      ];
      for (const removal of await Promise.allSettled(removals)) {
        if (removal.status === 'rejected')
          log.warn({ err: removal.reason }, 'the disk of a job cannot be cleaned');
      }
    },
  };
  const made = await Promise.allSettled([
    mkdir(home, { mode: 0o700 }),
    writeOwn(outputFile, ''),
    ...(upstreamFile === null ? [] : [writeOwn(upstreamFile, upstreamText)]),
  ]);
  const fault = made.find(({ status }) => status === 'rejected');
  if (fault?.status !== 'rejected') return dir;
  await dir[Symbol.asyncDispose]();
  throw fault.reason;
}

function writeOwn(path: string, text: string): Promise<void> {
  return writeFile(path, text, { mode: 0o600 });
}
