// What the main.ts of every service calls: configuration, logs, health, and an orderly end.

import { once } from 'node:events';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { explained } from '../db/advice.ts';
import type { configFields, SERVICE_FIELDS } from './config-fields.ts';
import { ConfigError, parseEnv, redacted } from './env.ts';
import { startHealth } from './health.ts';
import { createLogger } from './logger.ts';
import { type StopRequest, stopRequest } from './stop-request.ts';

/** Any choice of configFields that has SERVICE_FIELDS in it. */
type ServiceSchema = z.ZodObject<Pick<typeof configFields.shape, keyof typeof SERVICE_FIELDS>>;

export interface Service extends AsyncDisposable {
  /** Why it cannot do its work at the moment, for /ready; empty if it can. */
  reasons: () => string[];
  /** Drops at once what disposal waits for, called by a second signal; the process then has 3 s. */
  force?: () => void;
  /** For a service that may end by itself: resolves when it wants to. */
  done?: Promise<void>;
}

export interface Start<C> {
  config: C;
  log: Logger;
  /** Aborted by the first SIGTERM or SIGINT, or when the parent is gone. */
  stopping: AbortSignal;
  /** To be told why it cannot start yet, for /ready and the log. */
  onWait: (why: string) => void;
}

/** The exit code by which a service says that starting it again would not help. */
const WRONG_CONFIGURATION = 2;
/** What an orderly end takes after the grace: last results, goodbyes, closed connections. */
export const WRAP_UP_SECS = 3;

/**
 * Runs a service until it is asked to stop, then disposes of it, and ends the process: with 0; with 1 after an
 * error, a second signal, or if disposal takes longer than SHUTDOWN_GRACE_SECS, `killSecs` and 3 s together; with 2
 * if the configuration is wrong, or `start` throws a ConfigError. With --print-config it only shows the configuration.
 */
export async function runService<S extends ServiceSchema>(
  name: string,
  schema: S,
  start: (given: Start<z.output<S>>) => Promise<Service>,
  killSecs: (config: z.output<S>) => number = () => 0,
): Promise<never> {
  const config = configOrExit(schema);
  if (process.argv.includes('--print-config')) {
    process.stdout.write(`${JSON.stringify(redacted(schema, config), null, 2)}\n`);
    process.exit(0);
  }
  const log = createLogger(name, config.LOG_LEVEL);
  process.on('uncaughtException', (err) => fail(log, err));
  const request = stopRequest({
    log,
    graceSecs: config.SHUTDOWN_GRACE_SECS + killSecs(config) + WRAP_UP_SECS,
    parentPid: config.WFG_PARENT_PID,
  });
  try {
    await serve({ host: config.HOST, port: config.HEALTH_PORT, log, request }, (onWait) =>
      start({ config, log, stopping: request.signal, onWait }),
    );
  } catch (err) {
    fail(log, err);
  }
  log.info('stopped');
  process.exit(request.isForced() ? 1 : 0);
}

function configOrExit<S extends z.ZodObject>(schema: S): z.output<S> {
  try {
    return parseEnv(schema, process.env);
  } catch (err) {
    if (!(err instanceof ConfigError)) throw err;
    process.stderr.write(`${err.message}\n`);
    return process.exit(WRONG_CONFIGURATION);
  }
}

/** Where a wrong configuration was found out is of no use to who has to mend it. */
function fail(log: Logger, err: unknown): never {
  log.fatal(err instanceof ConfigError ? {} : { err }, explained(err));
  process.exit(err instanceof ConfigError ? WRONG_CONFIGURATION : 1);
}

interface Serve {
  host: string;
  port: number;
  log: Logger;
  request: StopRequest;
}

/** Health is there first and goes last, so that a slow start or end can be seen. */
async function serve(
  { host, port, log, request }: Serve,
  start: (onWait: Start<unknown>['onWait']) => Promise<Service>,
): Promise<void> {
  const { signal: stopping } = request;
  let service: Service | undefined;
  let starting = 'starting';
  const reasons = () => (stopping.aborted ? ['stopping'] : (service?.reasons() ?? [starting]));
  const onWait = (why: string) => {
    if (starting !== `starting: ${why}`) log.warn(why);
    starting = `starting: ${why}`;
  };
  await using health = await startHealth({ host, port, reasons });
  log.info({ health_port: health.port }, 'started');
  try {
    service = await start(onWait);
  } catch (err) {
    // A start that was waiting for something gives up when it is asked to.
    if (stopping.aborted) return;
    throw err;
  }
  await using _ = service;
  request.force = service.force;
  const wish = service.done?.then(() => request.stop('done'));
  if (!stopping.aborted) await Promise.race([once(stopping, 'abort'), ...(wish ? [wish] : [])]);
}
