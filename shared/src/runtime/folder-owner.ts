// One process at a time owns a data folder: a lock file that a killed owner does not leave locked.

import { readFileSync } from 'node:fs';
import { link, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errorCode } from '../db/sqlstate.ts';
import { identifyProcess } from './process-identity.ts';

const Owner = z.object({ pid: z.int().positive(), started: z.string() });

/**
 * Takes the folder for this process; the returned function gives it back.
 * Throws when a living process has it (also this one).
 */
export async function ownFolder(folder: string): Promise<() => Promise<void>> {
  const file = join(folder, 'owner');
  const mine = `${file}.${process.pid}`;
  const started = identifyProcess(process.pid)?.started ?? '';
  try {
    await writeFile(mine, JSON.stringify({ pid: process.pid, started }));
    // A link appears with its content, or fails because the name is taken.
    while (!(await linked(mine, file))) {
      const owner = readOwner(file);
      if (owner && identifyProcess(owner.pid)?.started === owner.started) {
        throw new Error(`process ${owner.pid} is using it`);
      }
      await rm(file, { force: true });
    }
  } catch (err) {
    const reason = err instanceof Error ? err.message : String(err);
    throw new Error(`cannot use the data folder ${folder}: ${reason} (WFG_DATA_DIR sets another)`, {
      cause: err,
    });
  } finally {
    await rm(mine, { force: true });
  }
  return () => rm(file, { force: true });
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (err) {
    if (errorCode(err) === 'EEXIST') return false;
    throw err;
  }
}

function readOwner(file: string): z.infer<typeof Owner> | undefined {
  try {
    return Owner.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // Gone meanwhile, or not written by us: nobody's.
    return undefined;
  }
}
