// wfg up: everything that wfg is, on this machine, until it is stopped.
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { messageOf } from '@wfg/shared/rules/message-of';
import { configFields } from '@wfg/shared/runtime/config-fields';
import { parseEnv } from '@wfg/shared/runtime/env';
import { ownFolder } from '@wfg/shared/runtime/folder-owner';
import { WRAP_UP_SECS } from '@wfg/shared/runtime/run-service';
import { stopRequest } from '@wfg/shared/runtime/stop-request';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { EXIT, ExitError } from '../exit-error.ts';
import { lineLogger } from '../line-logger.ts';
import { migrateDatabase } from '../migrate-database.ts';
import { print } from '../output.ts';
import { isAlive, readUpFile, removeUpFile } from '../up-file.ts';
import { choosePort } from './choose-port.ts';
import { openDatabase } from './database.ts';
import { forgetToken } from './forget-token.ts';
import { endLeftOvers } from './left-overs.ts';
import { npmAbove } from './npm-above.ts';
import { createPrinter, type Printer } from './printer.ts';
import { SERVICE_NAMES, workerPrefix } from './services.ts';
import { runServices } from './run-services.ts';

/** All that services read: what is wrong is said before anything is started. */
const schema = configFields.omit({ DATABASE_URL: true, DATABASE_DIRECT_URL: true, HEALTH_PORT: true });

/** Services stop in four groups, one after another. */
const GROUPS = 4;
/** What the database takes after that; more than its own limit. */
const DATABASE_STOPS_SECS = 60;
const PARENT_CHECK_MS = 1_000;

type UpConfig = z.output<typeof schema>;

interface Up {
  env: NodeJS.ProcessEnv;
  config: UpConfig;
  dataDir: string;
  printer: Printer;
  log: Logger;
}

/** Resolves when it has been asked to stop and everything has stopped. */
export async function runUp(env: NodeJS.ProcessEnv, json: boolean): Promise<void> {
  const config = parseEnv(schema, env);
  const printer = createPrinter({
    names: ['wfg', ...SERVICE_NAMES],
    level: config.LOG_LEVEL,
    json,
    write: print,
    isTerminal: process.stdout.isTTY,
  });
  const log = lineLogger(config.LOG_LEVEL, (line) => void printer.line('wfg', line));
  const dataDir = resolve(config.WFG_DATA_DIR);
  await makeFolder(dataDir);
  refuseSecond(dataDir);
  const release = await ownFolder(dataDir);
  try {
    await runOwner({ env, config, dataDir, printer, log });
  } finally {
    await removeUpFile(dataDir);
    await release();
  }
  log.info('stopped');
}

async function runOwner(up: Up): Promise<void> {
  const { env, config, log } = up;
  const request = stopRequest({
    log,
    graceSecs: GROUPS * stopSecs(config) + DATABASE_STOPS_SECS,
    parentPid: config.WFG_PARENT_PID,
  });
  process.stdout.on('error', () => request.stop('nobody reads the output'));
  const npm = npmAbove(env);
  const watch = setInterval(() => npm && !isAlive(npm) && request.stop('npm is gone'), PARENT_CHECK_MS);
  try {
    await runUntil(request.signal, up);
  } catch (err) {
    // Ctrl-C in the terminal reaches programs that prepare the database, too: that they then fail is no news.
    if (!request.signal.aborted) throw err;
    log.debug({ err }, 'failed while stopping');
  } finally {
    clearInterval(watch);
  }
}

async function runUntil(stop: AbortSignal, { env, config, dataDir, printer, log }: Up): Promise<void> {
  await endLeftOvers(dataDir, log);
  const port = await choosePort({ host: config.HOST, port: config.PORT, byHand: Boolean(env.PORT) });
  if (port !== config.PORT) log.info(`port ${config.PORT} is taken: using ${port} (PORT sets another)`);

  await using database = await openDatabase(env, dataDir, log);
  if (stop.aborted) return;
  await migrateDatabase(database.url, log);
  if (database.isEmbedded && config.WFG_ADMIN_TOKEN === undefined) await forgetToken(database.url, log);
  if (stop.aborted) return;
  await using services = runServices({
    env,
    database: database.env,
    workers: workerPrefix(env, dataDir, database.isEmbedded),
    port,
    graceMs: stopSecs(config) * 1000,
    dataDir,
    databaseFile: database.file && fromHere(database.file),
    printer,
    log,
  });
  await Promise.race([once(stop, 'abort'), database.failed, services.failed]);
  log.info(`jobs that run have ${config.SHUTDOWN_GRACE_SECS} s to finish; a second Ctrl-C forces`);
}

/** As short as it can be written here. */
function fromHere(file: string): string {
  const path = relative('', file);
  return path.startsWith('..') ? file : path;
}

/** The longest that a service takes to stop, after which it ends itself. */
function stopSecs({ SHUTDOWN_GRACE_SECS, KILL_GRACE_SECS }: UpConfig): number {
  return SHUTDOWN_GRACE_SECS + KILL_GRACE_SECS + WRAP_UP_SECS;
}

async function makeFolder(dataDir: string): Promise<void> {
  try {
    // Others may pass through: as root the database runs as another user.
    await mkdir(dataDir, { recursive: true, mode: 0o755 });
  } catch (err) {
    throw new ExitError(
      EXIT.failed,
      `cannot make the data folder ${dataDir}: ${messageOf(err)}: set WFG_DATA_DIR to a folder that you may write to`,
    );
  }
}

function refuseSecond(dataDir: string): void {
  const up = readUpFile(dataDir);
  if (up === undefined || !isAlive(up)) return;
  throw new ExitError(
    EXIT.failed,
    up.url === null
      ? `wfg is just being started here (process ${up.pid})`
      : `wfg is running here already: ${up.url} (process ${up.pid}). For a second one set WFG_DATA_DIR to another folder`,
  );
}
