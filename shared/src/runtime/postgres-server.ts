// Runs the postgres program on existing files until it is told to stop or its owner is gone.

import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { messageOf } from '../rules/message-of.ts';
import { freePort } from './free-port.ts';
import { serverEnv, tellingLine } from './postgres-cluster.ts';
import { openDatabase } from './postgres-database.ts';
import type { ServerUser } from './postgres-user.ts';

/** A crash with much unwritten data takes minutes to recover from; more than this is a fault. */
const START_LIMIT_MS = 300_000;
const STOP_LIMIT_MS = 60_000;
const LOG_LIMIT_BYTES = 1024 * 1024;

/**
 * A shell between this process and the server. File 3 is a pipe from us: when it closes, because we stop or
 * because we were killed, the server gets PostgreSQL's fast shutdown. Then it removes throwaway data, which a
 * killed owner could not; not after a start that failed, since that is tried again.
 */
const GUARD = `
rubbish=$1; shift
"$@" 3<&- & server=$!
{ read -r _ <&3; kill -INT $server; } & guard=$!
wait $server; code=$?
kill $guard 2>/dev/null
[ $code -ne 0 ] || [ -z "$rubbish" ] || rm -rf "$rubbish"
exit $code`;

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  // TCP alone: a socket's path may be too long or in a folder that the server's user cannot enter.
  'unix_socket_directories=',
  'max_connections=100',
  'timezone=UTC',
  'log_timezone=UTC',
  // Short statements on a small machine: to compile them, or spread them over processes, costs more than it
  // gains.
  'jit=off',
  'max_parallel_workers_per_gather=0',
  'log_checkpoints=off',
];
const UNSAFE = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

interface ServerFiles {
  /** Ours: password, port, log. */
  dataDir: string;
  /** The server's own: PGDATA. */
  files: string;
  programs: string;
  user: ServerUser | undefined;
  password: string;
  throwaway: boolean;
  log: Logger;
}

interface RunningServer {
  url: string;
  stop: () => Promise<void>;
  ended: Promise<void>;
}

/** Starts the server on the port it had last time if that is free, and waits until it can be used. */
export async function startServer(server: ServerFiles): Promise<RunningServer> {
  const portFile = join(server.dataDir, 'port');
  let port = lastPort(portFile) ?? (await freePort());
  const deadline = Date.now() + START_LIMIT_MS;
  for (let attempt = 1; ; attempt++) {
    const run = launch(server, port);
    try {
      const url = await openDatabase({ ...server, port, deadline, failed: run.failed });
      writeFileSync(portFile, String(port));
      return { url, stop: run.stop, ended: run.ended };
    } catch (err) {
      await run.stop();
      const reason = messageOf(err);
      if (attempt < 10 && /Address already in use|could not create any TCP/.test(reason))
        port = await freePort();
      // Children of a killed server see that it is gone only after a moment.
      else if (attempt < 10 && /pre-existing shared memory block/.test(reason)) await sleep(500);
      else throw new Error(`cannot start the database in ${server.files}: ${reason}`, { cause: err });
    }
  }
}

function lastPort(file: string): number | undefined {
  const port = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
}

function launch(server: ServerFiles, port: number) {
  const logFile = join(server.dataDir, 'postgres.log');
  if (existsSync(logFile) && statSync(logFile).size > LOG_LIMIT_BYTES) renameSync(logFile, `${logFile}.1`);
  const output = openSync(logFile, 'a', 0o600);
  const logStart = statSync(logFile).size;
  const settings = [...SETTINGS, ...(server.throwaway ? UNSAFE : []), `port=${port}`];
  const command = [join(server.programs, 'postgres'), '-D', server.files];
  for (const setting of settings) command.push('-c', setting);
  const child = spawn(
    '/bin/sh',
    ['-c', GUARD, 'sh', server.throwaway ? dirname(server.files) : '', ...command],
    {
      ...server.user,
      cwd: '/',
      env: serverEnv(),
      // A group of its own: Ctrl-C in the terminal must not reach the database before the services.
      detached: true,
      stdio: ['ignore', output, output, 'pipe'],
    },
  );
  closeSync(output);
  const lifeline = child.stdio[3];
  // Writing is never tried, but a server that ends first must not end us by EPIPE.
  lifeline?.on('error', () => {});

  let over = false;
  let unstartable: string | undefined;
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      unstartable = error.message;
      over = true;
      resolve();
    });
    child.once('exit', () => {
      over = true;
      resolve();
    });
  });
  const failed = () => {
    if (!over) return undefined;
    return unstartable ?? tellingLine(readFileSync(logFile).subarray(logStart).toString());
  };

  const stop = async () => {
    lifeline?.destroy();
    if (over) return;
    const late = setTimeout(() => {
      server.log.warn('the database does not stop: forcing it, the next start recovers');
      if (child.pid) process.kill(-child.pid, 'SIGQUIT');
    }, STOP_LIMIT_MS);
    await ended;
    clearTimeout(late);
  };
  return { ended, stop, failed };
}
