// A whole wfg of real processes on a test database: any number of each service, killed and started again by tests.
import { z } from 'zod';
import { type Exit, type ServiceName, startService, type TestProcess } from './process.ts';
import { type Runs, runsOf } from './runs.ts';
import { NO_MODULES } from './worker.ts';

export interface ClusterSettings {
  /** How many of each; one by default. */
  counts?: Partial<Record<ServiceName, number>>;
  env?: Record<string, string>;
  /** By which URL one process reaches the database, where that is not everybody's. */
  databaseOf?: (name: ServiceName, index: number) => string | undefined;
}

export interface Cluster extends Runs, AsyncDisposable {
  url: string;
  /** Of each api. */
  urls: string[];
  of: (name: ServiceName) => TestProcess[];
  /** `kill -9` one process of a service and, as a supervisor would, starts another in its place. */
  kill: (name: ServiceName, index?: number) => Promise<void>;
  /** Asks one process of a service to stop, and starts another in its place when it has, in order. */
  restart: (name: ServiceName, index?: number) => Promise<void>;
}

const ORDER: ServiceName[] = ['api', 'scheduler', 'reaper', 'worker'];

/** Starts the services on a database, without handlers unless WFG_MODULES is in `env`; disposal stops them all and fails if one does not end in order. */
export async function startCluster(
  database: { url: string },
  { counts = {}, env = {}, databaseOf = () => undefined }: ClusterSettings = {},
): Promise<Cluster> {
  const processes = new Map<ServiceName, TestProcess[]>();
  // An api keeps its port when it is started again, as it does under a supervisor.
  const ports: string[] = [];

  function start(name: ServiceName, index: number): TestProcess {
    const own: Record<string, string> = name === 'worker' ? { WORKER_ID: `worker-${index + 1}` } : {};
    const common = {
      DATABASE_URL: databaseOf(name, index) ?? database.url,
      LEASE_TTL_SECS: '3',
      REAP_INTERVAL_SECS: '1',
      WORKFLOWS_DIR: 'none',
      WFG_MODULES: NO_MODULES,
    };
    return startService(name, { ...common, ...own, PORT: (name === 'api' && ports[index]) || '0', ...env });
  }

  for (const name of ORDER) {
    const list = Array.from({ length: counts[name] ?? 1 }, (_, index) => start(name, index));
    processes.set(name, list);
  }
  const of = (name: ServiceName) => processes.get(name) ?? [];
  const listening = await Promise.all(of('api').map((api) => api.logged('listening')));
  const urls = listening.map((line) => z.string().parse(line.url));
  ports.push(...urls.map((url) => new URL(url).port));
  const url = urls[0] ?? '';
  for (const name of ORDER) await Promise.all(of(name).map((one) => one.logged('started')));

  async function replace(name: ServiceName, index: number, signal: NodeJS.Signals): Promise<Exit> {
    const old = of(name)[index];
    if (!old) throw new Error(`there is no ${name} ${index}`);
    old.signal(signal);
    const exit = await old.ended;
    of(name)[index] = start(name, index);
    return exit;
  }

  async function kill(name: ServiceName, index = 0): Promise<void> {
    await replace(name, index, 'SIGKILL');
  }

  async function restart(name: ServiceName, index = 0): Promise<void> {
    const { code, signal } = await replace(name, index, 'SIGTERM');
    if (code !== 0) throw new Error(`${name} ${index} was asked to stop, and ended with ${code ?? signal}`);
  }

  return {
    ...runsOf({ url, token: env.WFG_ADMIN_TOKEN }),
    url,
    urls,
    of,
    kill,
    restart,
    async [Symbol.asyncDispose]() {
      await Promise.all([...processes.values()].flat().map((one) => one[Symbol.asyncDispose]()));
    },
  };
}
