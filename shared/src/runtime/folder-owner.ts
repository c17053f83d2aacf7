// One process at a time owns a data folder, and a killed one does not keep it.
//
// Each process puts up a sign of its own, an empty file named after it, and owns the folder once it sees no sign of
// another living process: of two, the later one always sees the earlier one's. Names begin with the time, so that who
// was there first sorts first; were a clock wrong, somebody would be refused or wait, and still only one get it. There
// is no lock file that all share, so clearing away what a killed process left can never hit what a new one has just
// put in its place.

import { randomUUID } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../rules/message-of.ts';
import { identifyProcess } from './process-identity.ts';

/** Of processes that come at once the one whose sign sorts first waits so long for the others to step back. */
const WAIT_MS = 500;
const POLL_MS = 10;

interface Sign {
  name: string;
  pid: number;
}

/**
 * Takes the folder for this process; the returned function gives it back.
 * Throws when a living process has it (also this one).
 */
export async function ownFolder(folder: string): Promise<() => Promise<void>> {
  const started = identifyProcess(process.pid)?.started ?? '';
  const mine = `owner.${Date.now()}.${randomUUID()}.${process.pid}.${encodeURIComponent(started)}`;
  const release = () => rm(join(folder, mine), { force: true });
  try {
    await writeFile(join(folder, mine), '', { flag: 'wx' });
    await waitUntilAlone(folder, mine);
    return release;
  } catch (err) {
    await release();
    throw new Error(`cannot use the data folder ${folder}: ${messageOf(err)} (WFG_DATA_DIR sets another)`, {
      cause: err,
    });
  }
}

async function waitUntilAlone(folder: string, mine: string): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const others = await livingSigns(folder, mine);
    const [first] = others;
    if (first === undefined) return;
    if (first.name < mine || performance.now() > deadline)
      throw new Error(`process ${first.pid} is using it`);
    await sleep(POLL_MS);
  }
}

/** Signs of living processes but for `mine`, sorted; those of dead ones are cleared away. */
async function livingSigns(folder: string, mine: string): Promise<Sign[]> {
  const living: Sign[] = [];
  for (const name of (await readdir(folder)).sort()) {
    const [, pid, started] = /^owner\.\d+\.[0-9a-f-]{36}\.(\d+)\.([^.]*)$/.exec(name) ?? [];
    if (pid === undefined || name === mine) continue;
    const identity = identifyProcess(Number(pid));
    if (identity && encodeURIComponent(identity.started) === started) living.push({ name, pid: Number(pid) });
    else await rm(join(folder, name), { force: true });
  }
  return living;
}
