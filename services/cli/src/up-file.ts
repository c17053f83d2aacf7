// WFG_DATA_DIR/up.json: where a running `wfg up` is, and which processes it started.
import { readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identifyProcess } from '@wfg/shared/runtime/process-identity';
import { z } from 'zod';

const Started = z.object({ pid: z.int().positive(), started: z.string() });
/** A process, told apart from a later one that was given the same id. */
export type Started = z.infer<typeof Started>;

const UpFile = Started.extend({
  /** Null until the api answers. */
  url: z.string().nullable(),
  children: z.array(Started),
});
type UpFile = z.infer<typeof UpFile>;

/** Identity of a process that lives now; undefined when it does not. */
export function startedAs(pid: number): Started | undefined {
  const identity = identifyProcess(pid);
  return identity && { pid, started: identity.started };
}

export function isAlive({ pid, started }: Started): boolean {
  return identifyProcess(pid)?.started === started;
}

/** What the last `wfg up` on this folder wrote, running or not; undefined when there is nothing readable. */
export function readUpFile(dataDir: string): UpFile | undefined {
  try {
    return UpFile.parse(JSON.parse(readFileSync(join(dataDir, 'up.json'), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Replaces the file in one step, so that no reader sees half of it. */
export async function writeUpFile(dataDir: string, content: UpFile): Promise<void> {
  const file = join(dataDir, 'up.json');
  await writeFile(`${file}.new`, `${JSON.stringify(content)}\n`);
  await rename(`${file}.new`, file);
}

export async function removeUpFile(dataDir: string): Promise<void> {
  await rm(join(dataDir, 'up.json'), { force: true });
}
