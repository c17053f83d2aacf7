// wfg up: everything that wfg is, on this machine, until it is stopped.
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { migrate } from '@wfg/shared/db/migrate';
import { configFields } from '@wfg/shared/runtime/config-fields';
import { parseEnv } from '@wfg/shared/runtime/env';
import { ownFolder } from '@wfg/shared/runtime/folder-owner';
import { stopRequest } from '@wfg/shared/runtime/stop-request';
import { EXIT, ExitError, messageOf } from '../exit-error.ts';
import { lineLogger } from '../line-logger.ts';
import { print } from '../output.ts';
import { isAlive, readUpFile, removeUpFile } from '../up-file.ts';
import { choosePort } from './choose-port.ts';
import { openDatabase } from './database.ts';
import { endLeftOvers } from './left-overs.ts';
import { createPrinter } from './printer.ts';
import { SERVICE_NAMES, workerPrefix } from './services.ts';
import { runServices } from './run-services.ts';

/** All that services read: what is wrong is said before anything is started. */
const schema = configFields.omit({ DATABASE_URL: true, DATABASE_DIRECT_URL: true, HEALTH_PORT: true });

/** More than everything takes that has limits of its own: services one after another, then the database. */
const ALL_STOPS_SECS = 90;

/** Resolves with the exit code when everything has stopped. */
export async function runUp(env: NodeJS.ProcessEnv, json: boolean): Promise<number> {
  const config = parseEnv(schema, env);
  const dataDir = resolve(config.WFG_DATA_DIR);
  const printer = createPrinter({
    names: ['wfg', ...SERVICE_NAMES],
    level: config.LOG_LEVEL,
    json,
    write: print,
    colours: process.stdout.isTTY && process.stdout.hasColors(),
  });
  const log = lineLogger(config.LOG_LEVEL, (line) => void printer.line('wfg', line));
  await makeFolder(dataDir);
  refuseSecond(dataDir);

  await using stack = new AsyncDisposableStack();
  stack.defer(await ownFolder(dataDir));
  stack.defer(() => removeUpFile(dataDir));
  const request = stopRequest({
    log,
    graceSecs: 4 * config.SHUTDOWN_GRACE_SECS + ALL_STOPS_SECS,
    parentPid: config.WFG_PARENT_PID ?? (env.npm_execpath ? process.ppid : undefined),
  });
  const stopped = once(request.signal, 'abort');
  process.stdout.on('error', () => request.stop('nobody reads the output'));
  await endLeftOvers(dataDir, log);
  const port = await choosePort({ host: config.HOST, port: config.PORT, byHand: Boolean(env.PORT) });
  if (port !== config.PORT) log.info(`port ${config.PORT} is taken: using ${port} (PORT sets another)`);

  const database = stack.use(await openDatabase(env, dataDir, log));
  if (request.signal.aborted) return EXIT.ok;
  await migrate(database.url, log);
  if (request.signal.aborted) return EXIT.ok;
  const services = stack.use(
    runServices({
      env,
      database: database.env,
      workers: workerPrefix(env, dataDir, database.isEmbedded),
      port,
      graceMs: config.SHUTDOWN_GRACE_SECS * 1000,
      dataDir,
      printer,
      log,
    }),
  );
  await Promise.race([stopped, database.failed, services.failed]);
  log.info(`jobs that run have ${config.SHUTDOWN_GRACE_SECS} s to finish; a second Ctrl-C forces`);
  return EXIT.ok;
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
