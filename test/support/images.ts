// Once for the tests of containers: looks for Docker, builds the images under a tag of this run, and at the end removes
// them, with whatever a failed test left.
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { docker } from './docker.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The tag of the images; the names of the run's stacks begin with it. */
    imageTag: string;
  }
}

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const IMAGES = ['api', 'scheduler', 'worker', 'reaper', 'migrate'] as const;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await requireDocker();
  const tag = `wfg-test-${randomBytes(4).toString('hex')}`;
  await docker(['compose', '-p', tag, '-f', 'docker-compose.yml', 'build', '--quiet'], {
    cwd: ROOT,
    env: { WFG_VERSION: tag, WFG_REVISION: tag },
  });
  for (const name of IMAGES) console.log(`image ${name}: ${await size(`wfg-${name}:${tag}`)}`);
  console.log(`of which the base, which they share: ${await size('node:24-bookworm-slim')}`);
  project.provide('imageTag', tag);
  return async () => {
    const left = await removeLeft(tag);
    await docker(['image', 'rm', ...IMAGES.map((name) => `wfg-${name}:${tag}`)]);
    if (left.length > 0) throw new Error(`the tests left in Docker: ${left.join(', ')}`);
  };
}

async function requireDocker(): Promise<void> {
  try {
    await docker(['version']);
    await docker(['compose', 'version']);
  } catch (err) {
    throw new Error(
      'npm run test:containers needs a running Docker engine, and Compose 2 as `docker compose`',
      {
        cause: err,
      },
    );
  }
}

async function size(image: string): Promise<string> {
  const bytes = Number(await docker(['image', 'inspect', '--format', '{{.Size}}', image]));
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Removes all containers, networks and volumes whose name begins with the tag; returns their names. */
async function removeLeft(tag: string): Promise<string[]> {
  const filter = ['--filter', `name=${tag}`, '--format'];
  const containers = lines(await docker(['ps', '-a', ...filter, '{{.Names}}']));
  if (containers.length > 0) await docker(['rm', '-f', '-v', ...containers]);
  const networks = lines(await docker(['network', 'ls', ...filter, '{{.Name}}']));
  if (networks.length > 0) await docker(['network', 'rm', ...networks]);
  const volumes = lines(await docker(['volume', 'ls', ...filter, '{{.Name}}']));
  if (volumes.length > 0) await docker(['volume', 'rm', ...volumes]);
  return [...containers, ...networks, ...volumes];
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
