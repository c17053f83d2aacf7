// The processes of `wfg up`: which there are, the environment each gets, and the order in which they stop.
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { hostName } from '@wfg/shared/runtime/host-name';
import type { ServiceSpec, Supervised } from './supervise.ts';

/** From first to last to stop; each group at once. What makes work for others goes after them. */
const STOP_ORDER = [['worker-1', 'worker-2'], ['scheduler'], ['reaper'], ['api']] as const;

export const SERVICE_NAMES = ['api', 'scheduler', 'reaper', 'worker-1', 'worker-2'] as const;

export interface Surroundings {
  env: NodeJS.ProcessEnv;
  /** Where the database is; undefined values are taken out of `env`. */
  database: NodeJS.ProcessEnv;
  /** What this run's worker ids begin with. */
  workers: string;
  /** Asked at each start of the api. */
  port: () => number;
}

export function serviceSpecs({ env, database, workers, port }: Surroundings): ServiceSpec[] {
  const common = {
    ...env,
    ...NOT_THEIRS,
    ...database,
    HEALTH_PORT: '0',
    WFG_PARENT_PID: String(process.pid),
    ...logLevel(env),
  };
  const { WFG_ADMIN_TOKEN, WFG_ADMIN_TOKEN_FILE } = env;
  const token = { WFG_ADMIN_TOKEN, WFG_ADMIN_TOKEN_FILE };
  return SERVICE_NAMES.map((name) => {
    const [service, number] = name.split('-');
    return {
      name,
      main: fileURLToPath(new URL(`../../../${service}/src/main.ts`, import.meta.url)),
      mayEnd: service === 'worker',
      env: () => ({
        ...common,
        ...(service === 'api' ? { ...token, PORT: String(port()), ...GIVE_BACK } : {}),
        ...(number === undefined ? {} : { WORKER_ID: `${workers}-${number}` }),
      }),
    };
  });
}

/** Pieces of logs, 64 KiB each, go back to the system when glibc frees them, and do not leave holes: as in the image. */
const GIVE_BACK = { MALLOC_MMAP_THRESHOLD_: '32768' };

/** What workers, and the modules that they load, have no need of; the api gets its own token back. */
const NOT_THEIRS = {
  WFG_ADMIN_TOKEN: undefined,
  WFG_ADMIN_TOKEN_FILE: undefined,
  WFG_TOKEN: undefined,
  WFG_TOKEN_FILE: undefined,
};

/** `wfg up` learns from lines of level info when a service is ready; it hides itself what is not wanted. */
function logLevel(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return env.LOG_LEVEL === 'trace' || env.LOG_LEVEL === 'debug' ? {} : { LOG_LEVEL: 'info' };
}

/**
 * Worker ids are unique in a database, and the same at the next start. One that others use too may have several
 * runs of wfg up, on one machine from different data folders.
 */
export function workerPrefix(env: NodeJS.ProcessEnv, dataDir: string, isEmbedded: boolean): string {
  if (env.WORKER_ID) return env.WORKER_ID;
  if (isEmbedded) return 'worker';
  return `${hostName()}-${createHash('sha256').update(dataDir).digest('hex').slice(0, 6)}`;
}

/** Ends all in their order; each has `graceMs` from when it is its turn. */
export async function stopServices(services: readonly Supervised[], graceMs: number): Promise<void> {
  for (const group of STOP_ORDER) {
    const turn = services.filter(({ name }) => group.some((other) => other === name));
    await Promise.all(turn.map((service) => service.stop(graceMs)));
  }
}
