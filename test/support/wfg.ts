// Runs the wfg command to its end, as a shell would.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { programEnv } from './process.ts';

export const CLI = fileURLToPath(new URL('../../services/cli/src/main.ts', import.meta.url));

interface Done {
  code: number;
  stdout: string;
  stderr: string;
}

/** With nothing of our environment but what a program needs, `env`, and `input` on its standard input. */
export function runWfg(args: string[], env: Record<string, string>, input = ''): Promise<Done> {
  return new Promise((resolve) => {
    const options = { env: { ...programEnv(), ...env } };
    const child = execFile(process.execPath, [CLI, ...args], options, (err, stdout, stderr) => {
      resolve({ code: typeof err?.code === 'number' ? err.code : 0, stdout, stderr });
    });
    // Most commands end without reading it.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}
