// Why a command could not be started: whose fault it is, and words that help.

import { messageOf } from '@wfg/shared/rules/message-of';

/** What the machine or the worker lacks. Any other command would meet it too, unless a job has brought it about. */
const FAULTS: Record<string, string> = {
  ENOENT: 'its folder, or /bin/sh, is missing',
  EACCES: 'its folder, or /bin/sh, may not be entered',
  EAGAIN: 'this user may have no more processes: raise the limit, or lower WORKER_CONCURRENCY',
  ENOMEM: 'the machine has no memory left',
  EMFILE: 'the worker has too many open files: raise the limit, or lower WORKER_CONCURRENCY',
  ENFILE: 'the machine has too many open files',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota of this user is used up',
  EROFS: 'the disk is read-only',
  EIO: 'the disk cannot be read or written',
};
const TOO_LARGE = 'environment and command are too large together: pass long values by file';

/** The spawner died, does not answer, or cannot do its own part. */
export class SpawnerError extends Error {
  override name = 'SpawnerError';
}

/** True if it is not the job's fault, as long as nothing of the job has run. */
export function isMachineFault(err: unknown): boolean {
  return err instanceof SpawnerError || Object.hasOwn(FAULTS, codeOf(err));
}

/** The reason, for people. */
export function explainSpawnError(err: unknown): string {
  const code = codeOf(err);
  const advice = code === 'E2BIG' ? TOO_LARGE : FAULTS[code];
  return advice === undefined ? messageOf(err) : `${advice} (${code})`;
}

function codeOf(err: unknown): string {
  return /\bE[A-Z0-9]{2,}\b/.exec(messageOf(err))?.[0] ?? '';
}
