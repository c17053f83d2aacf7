// Runs the docker command and reads what the engine knows of containers.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';

const execFileAsync = promisify(execFile);

interface DockerOptions {
  env?: Record<string, string>;
  cwd?: string;
}

/** What `docker` prints on stdout. Rejects with what it prints on stderr. */
export async function docker(args: string[], { env = {}, cwd }: DockerOptions = {}): Promise<string> {
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await execFileAsync('docker', args, options);
  return stdout;
}

const Container = z.object({
  Id: z.string(),
  RestartCount: z.int(),
  State: z.object({ Status: z.string(), ExitCode: z.int(), OOMKilled: z.boolean(), StartedAt: z.string() }),
  Config: z.object({ User: z.string(), Image: z.string() }),
  HostConfig: z.object({ ReadonlyRootfs: z.boolean(), Privileged: z.boolean() }),
});
export type Container = z.infer<typeof Container>;

export async function inspectContainers(ids: string[]): Promise<Container[]> {
  if (ids.length === 0) return [];
  return z.array(Container).parse(JSON.parse(await docker(['inspect', '--type', 'container', ...ids])));
}
