// The stack of docker-compose.yml, as its reader would start it, with secrets and ports of its own.
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { promisify } from 'node:util';
import { freePort } from '@wfg/shared/runtime/free-port';
import { inject } from 'vitest';
import { type Container, docker, inspectContainers } from './docker.ts';
import type { Gate } from './gate.ts';
import { ROOT } from './images.ts';
import { vegaDataDir } from './pipeline-check.ts';
import { type Runs, runsOf } from './runs.ts';
import { waitFor } from './wait-for.ts';

export const SERVICES = ['api', 'scheduler', 'worker', 'reaper'] as const;
/** Where commands find the data of vega-datasets. */
export const DATA = '/data';

export interface Stack extends Runs, AsyncDisposable {
  url: string;
  token: string;
  /** From this machine. */
  databaseUrl: string;
  /** The name of its network. */
  network: string;
  /** `docker compose …` on this stack; resolves with what it prints. */
  compose: (...args: string[]) => Promise<string>;
  /** The containers of a service, or of all, whatever state they are in. */
  containers: (...services: string[]) => Promise<Container[]>;
  /** The one that runs this worker. */
  containerOf: (workerId: string) => Promise<Container>;
  /** Runs a script in a container, as its user. */
  sh: (container: Container, script: string) => Promise<string>;
  /** The container's log, a parsed line each. */
  log: (container: Container) => Promise<Record<string, unknown>[]>;
  newGate: () => Pick<Gate, 'wait' | 'open'>;
}

interface StackSettings {
  /** Set for all services. */
  env?: Record<string, string>;
  /** The text of a docker-compose.override.yml. */
  override?: string;
}

/** Starts the stack and waits until all of it is healthy. */
export async function startStack({ env = {}, override }: StackSettings = {}): Promise<Stack> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'wfg-stack-'));
  stack.defer(() => rm(folder, { recursive: true }));
  const secrets = join(folder, 'secrets');
  await promisify(execFile)(join(ROOT, 'deploy/make-secrets.sh'), [secrets]);
  const name = `${inject('imageTag')}-${randomBytes(2).toString('hex')}`;
  const [port, databasePort] = [await freePort(), await freePort()];
  const gates = join(folder, 'gates');
  await mkdir(gates);
  const overlay = join(folder, 'overlay.yml');
  // JSON is YAML.
  await writeFile(overlay, JSON.stringify(overlayOf({ gates, secrets, databasePort, env })));

  const own = join(folder, 'docker-compose.override.yml');
  if (override !== undefined) await writeFile(own, override);

  const files = ['docker-compose.yml', ...(override === undefined ? [] : [own]), overlay];
  const compose = (...args: string[]) =>
    docker(['compose', '-p', name, ...files.flatMap((file) => ['-f', file]), ...args], {
      cwd: ROOT,
      env: { WFG_VERSION: inject('imageTag'), WFG_PORT: String(port) },
    });
  const containers = async (...services: string[]) => {
    const ids = await compose('ps', '-a', '-q', ...services);
    return inspectContainers(ids.split('\n').filter((id) => id !== ''));
  };
  stack.defer(async () => {
    await compose('down', '--volumes', '--remove-orphans', '--timeout', '10');
  });
  await compose('up', '-d', '--wait', '--no-build');

  const url = `http://127.0.0.1:${port}`;
  const token = (await readFile(join(secrets, 'admin_token'), 'utf8')).trim();
  const password = (await readFile(join(secrets, 'database_password'), 'utf8')).trim();
  const owned = stack.move();
  return {
    ...runsOf({ url, token }),
    url,
    token,
    databaseUrl: `postgres://wfg:${password}@127.0.0.1:${databasePort}/wfg`,
    network: `${name}_default`,
    compose,
    containers,
    containerOf: (workerId) =>
      // A worker is named by its host's name, which is the beginning of the container's id.
      waitFor(`the container of ${workerId}`, async () =>
        (await containers('worker')).find(({ Id }) => workerId.startsWith(Id.slice(0, 12))),
      ),
    sh: ({ Id }, script) => docker(['exec', Id, 'sh', '-c', script]),
    async log({ Id }) {
      const text = await docker(['logs', Id]);
      return text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
    },
    newGate() {
      const gate = randomUUID();
      return {
        wait: `until test -e /gates/${gate}; do sleep 0.1; done`,
        open: () => writeFile(join(gates, gate), ''),
      };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

interface Overlay {
  gates: string;
  secrets: string;
  databasePort: number;
  env: Record<string, string>;
}

function overlayOf({ gates, secrets, databasePort, env }: Overlay) {
  const secret = (name: string) => [name, { file: join(secrets, name) }];
  const services = Object.fromEntries(SERVICES.map((name) => [name, { environment: env }]));
  const volumes = [`${vegaDataDir()}:${DATA}:ro`, `${gates}:/gates:ro`];
  return {
    services: {
      ...services,
      worker: { environment: env, volumes },
      postgres: { ports: [`127.0.0.1:${databasePort}:5432`] },
    },
    secrets: Object.fromEntries(['admin_token', 'database_password', 'database_url'].map(secret)),
  };
}
