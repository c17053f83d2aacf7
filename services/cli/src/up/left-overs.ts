// Processes that a killed `wfg up` left behind. They notice and stop by themselves; here the next start waits for them.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isAlive, readUpFile, type Started } from '../up-file.ts';

/** They look for their parent each second; and with their database gone they have nothing to finish. */
const WAIT_MS = 3_000;
const POLL_MS = 50;

/** Resolves when none of them lives any more. The caller must own the data folder. */
export async function endLeftOvers(dataDir: string, log: Logger): Promise<void> {
  const left = (readUpFile(dataDir)?.children ?? []).filter(isAlive);
  if (left.length === 0) return;
  log.info('the last run was killed: waiting for what it left to end');
  if (await haveEnded(left)) return;
  for (const one of left.filter(isAlive)) process.kill(one.pid, 'SIGKILL');
  await haveEnded(left);
}

async function haveEnded(left: readonly Started[]): Promise<boolean> {
  for (let waited = 0; left.some(isAlive); waited += POLL_MS) {
    if (waited > WAIT_MS) return false;
    await sleep(POLL_MS);
  }
  return true;
}
