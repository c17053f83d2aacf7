// The database that needs no installation: PostgreSQL from npm, for `wfg up` and for the tests.

import { existsSync, realpathSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { messageOf } from '../rules/message-of.ts';
import { ownFolder } from './folder-owner.ts';
import { createCluster, stopLeftServer } from './postgres-cluster.ts';
import { findPrograms } from './postgres-programs.ts';
import { startServer } from './postgres-server.ts';
import { serverUser } from './postgres-user.ts';

export interface EmbeddedPostgres {
  /** For everyone: an ordinary user, owner of the database `wfg`, on 127.0.0.1. Holds the password. */
  url: string;
  /** Ends the server cleanly: call it after everything that uses it has ended. May be called twice. */
  stop: () => Promise<void>;
  /** Resolves when the server has ended, asked to or not. */
  ended: Promise<void>;
}

type EmbeddedOptions = {
  log: Logger;
  /** Folder of initdb and postgres, of another version than the npm package's. */
  programs?: string | undefined;
} & ({ dataDir: string; throwaway?: false } | { throwaway: true });

/**
 * Starts PostgreSQL on `dataDir` (made at the first start; a server left by a killed owner is ended first),
 * or on a `throwaway` folder that trades safety for speed and is removed at the end. The server never
 * outlives this process, whatever ends it. Throws with one line that says what to do.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const dataDir = options.throwaway ? await throwawayFolder() : await dataFolder(options.dataDir);
  const release = await ownFolder(dataDir);
  try {
    const data = join(dataDir, 'data');
    const user = serverUser(data);
    // What the guard of throwaway data removes must belong to the user it runs as.
    if (user && options.throwaway) await chown(dataDir, user.uid, user.gid);
    const programs = options.programs ?? (await findPrograms(user !== undefined));
    if (!existsSync(data)) {
      if (!options.throwaway) options.log.info({ dataDir }, 'creating the database');
      await createCluster({ dataDir, programs, user, sync: !options.throwaway, log: options.log });
    }
    const files = realpathSync(data);
    await stopLeftServer(files);
    const server = await startServer({
      dataDir,
      files,
      programs,
      user,
      password: await password(dataDir),
      throwaway: options.throwaway === true,
      log: options.log,
    });
    const stop = async () => {
      await server.stop();
      await release();
      if (options.throwaway) await removeThrowaway(dataDir);
    };
    return { url: server.url, stop, ended: server.ended };
  } catch (err) {
    await release();
    if (options.throwaway) await removeThrowaway(dataDir);
    throw err;
  }
}

async function throwawayFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'wfg-postgres-'));
  await chmod(folder, 0o755);
  return folder;
}

async function removeThrowaway(folder: string): Promise<void> {
  const data = join(folder, 'data');
  // The files may have had to be elsewhere.
  if (existsSync(data)) await rm(dirname(realpathSync(data)), { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
}

async function dataFolder(path: string): Promise<string> {
  const folder = resolve(path);
  try {
    // Others may pass through: as root the server is another user. What is secret in it has modes of its own.
    await mkdir(folder, { recursive: true, mode: 0o755 });
  } catch (err) {
    throw new Error(`cannot make the data folder ${folder}: ${messageOf(err)}; set WFG_DATA_DIR`, {
      cause: err,
    });
  }
  return folder;
}

async function password(dataDir: string): Promise<string> {
  const file = join(dataDir, 'password');
  try {
    return await readFile(file, 'utf8');
  } catch (err) {
    throw new Error(
      `cannot read the database password in ${file}: restore it, or remove ${dataDir} with its data`,
      {
        cause: err,
      },
    );
  }
}
