// Creates the files of an embedded PostgreSQL, and ends a server that a killed owner left running on them.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { chmod, chown, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../rules/message-of.ts';
import { identifyProcess } from './process-identity.ts';
import type { Logger } from 'pino';
import { canEnter, type ServerUser } from './postgres-user.ts';

/** Where data goes that must live outside a folder which only root can enter. */
const SHARED_DATA = '/var/lib/wfg';

/** A clean stop writes all dirty pages: seconds, minutes on a poor disk. */
const STOP_LIMIT_MS = 60_000;

/**
 * Makes `<dataDir>/data` with initdb (superuser `postgres`) and `<dataDir>/password`. A run that is killed
 * half-way leaves nothing that looks finished. `sync: false` skips the flush to disk, for throwaway data.
 */
export async function createCluster(cluster: {
  dataDir: string;
  programs: string;
  user: ServerUser | undefined;
  sync: boolean;
  log: Logger;
}): Promise<void> {
  const { dataDir, user } = cluster;
  const data = join(dataDir, 'data');
  const inside = !user || canEnter(user, dataDir);
  const work = inside ? join(dataDir, 'data.partial') : join(SHARED_DATA, randomBytes(6).toString('hex'));
  const files = join(work, 'data');
  try {
    await makeFolder(work, user);
    if (!inside) await chmod(SHARED_DATA, 0o755);
    const password = randomBytes(24).toString('hex');
    const passwordFile = join(work, 'password');
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (user) await chown(passwordFile, user.uid, user.gid);
    await initdb(cluster, files, passwordFile);
    await rm(passwordFile);
    await writeFile(join(dataDir, 'password'), password, { mode: 0o600 });
    // A link that points nowhere any more.
    await rm(data, { force: true });
    await (inside ? rename(files, data) : symlink(files, data));
    if (!inside)
      cluster.log.info({ files }, `PostgreSQL's user cannot enter ${dataDir}: its files are elsewhere`);
  } catch (err) {
    await rm(work, { recursive: true, force: true });
    throw new Error(`cannot create the database in ${dataDir}: ${messageOf(err)}`, { cause: err });
  }
  if (inside) await rm(work, { recursive: true });
}

async function makeFolder(folder: string, user: ServerUser | undefined): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (user) await chown(folder, user.uid, user.gid);
}

async function initdb(
  cluster: { programs: string; user: ServerUser | undefined; sync: boolean },
  folder: string,
  passwordFile: string,
): Promise<void> {
  const child = spawn(
    join(cluster.programs, 'initdb'),
    [
      `--pgdata=${folder}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // Without it an empty environment makes an SQL_ASCII database. macOS has no C.UTF-8.
      `--locale=${process.platform === 'darwin' ? 'C' : 'C.UTF-8'}`,
      ...(cluster.sync ? [] : ['--no-sync']),
    ],
    { ...cluster.user, cwd: '/', env: serverEnv(), stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const complaint = text(child.stderr);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  if (code !== 0) throw new Error(tellingLine(await complaint));
}

/** They get nothing of our environment: PGDATA, LC_ALL and the like would change what they do. */
export function serverEnv(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, TZ: 'UTC' };
}

/** Of what the programs said, the line that says why: the first complaint; later ones follow from it. */
export function tellingLine(output: string): string {
  const complaint = /\b(?:FATAL|PANIC|error|ERROR): +(?!the database system is)(.*)/.exec(output)?.[1];
  return complaint?.trim() ?? output.trim().split('\n').at(-1) ?? '';
}

/**
 * Ends the server that still runs on these files, if there is one: a killed owner's server may be stopping by
 * itself right now. The caller must own the data folder. Throws when it does not end within a minute.
 */
export async function stopLeftServer(files: string): Promise<void> {
  const pid = runningServer(files);
  if (pid === undefined) return;
  if (!isServerOf(pid, files)) {
    // Its id was given to another program (usual after a container's restart), which PostgreSQL takes for a
    // server.
    await rm(join(files, 'postmaster.pid'), { force: true });
    return;
  }
  // SIGINT is PostgreSQL's fast shutdown: clients are cut off, everything is written.
  process.kill(pid, 'SIGINT');
  const deadline = Date.now() + STOP_LIMIT_MS;
  while (isServerOf(pid, files)) {
    if (Date.now() > deadline)
      throw new Error(`PostgreSQL (process ${pid}) does not stop: end it, then start again`);
    await sleep(50);
  }
}

/**
 * The living process that postmaster.pid names. A dead one is left to PostgreSQL, which looks for its
 * children.
 */
function runningServer(files: string): number | undefined {
  const pidFile = join(files, 'postmaster.pid');
  if (!existsSync(pidFile)) return undefined;
  const pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
  return pid > 0 && identifyProcess(pid) ? pid : undefined;
}

function isServerOf(pid: number, files: string): boolean {
  if (identifyProcess(pid)?.name !== 'postgres') return false;
  if (process.platform !== 'linux') return true;
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === files;
  } catch {
    return false;
  }
}
