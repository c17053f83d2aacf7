// The npm that started this process by `npm start` or npx. Killed, it leaves a shell between that notices nothing.
import { identifyProcess } from '@wfg/shared/runtime/process-identity';
import type { Started } from '../up-file.ts';

/** npm starts a shell, and that a script which may start another Node. */
const LEVELS = 4;

/** Undefined when there is none. */
export function npmAbove(env: NodeJS.ProcessEnv): Started | undefined {
  let pid = process.ppid;
  for (let level = 0; env.npm_execpath && level < LEVELS; level++) {
    const found = identifyProcess(pid);
    if (found === undefined) return undefined;
    if (/^np[mx]/.test(found.name)) return { pid, started: found.started };
    pid = found.parent;
  }
  return undefined;
}
