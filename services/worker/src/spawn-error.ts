// Why a command could not be started, in words that help.

const ADVICE: Record<string, string> = {
  E2BIG: 'environment and command are too large together: pass long values by file',
  ENOENT: 'its working folder or /bin/sh is missing',
  EACCES: 'its working folder or /bin/sh may not be entered',
  EAGAIN: 'this user may have no more processes: raise the limit, or lower WORKER_CONCURRENCY',
  ENOMEM: 'the machine has no memory left',
  EMFILE: 'the worker has too many open files: raise the limit, or lower WORKER_CONCURRENCY',
  ENFILE: 'the machine has too many open files',
  ENOSPC: 'the disk is full',
};

export function explainSpawnError(err: unknown): string {
  const text = err instanceof Error ? err.message : String(err);
  const code = /\bE[A-Z0-9]{3,}\b/.exec(text)?.[0] ?? '';
  const advice = ADVICE[code];
  return `cannot start the command: ${advice === undefined ? text : `${advice} (${code})`}`;
}
