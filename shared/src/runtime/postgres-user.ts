// PostgreSQL refuses to run as root: which user it runs as instead, and what that user can reach.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';

export interface ServerUser {
  uid: number;
  gid: number;
}

/**
 * The user that the server of `dataFolder` must run as; undefined when that is this process's own.
 * As root it is who owns the data, or else the first unprivileged user that the system has for such things.
 */
export function serverUser(dataFolder: string): ServerUser | undefined {
  const owner = existsSync(dataFolder) ? statSync(dataFolder) : undefined;
  const self = process.getuid?.();
  if (self !== 0) {
    if (owner && self !== undefined && owner.uid !== self) {
      throw new Error(
        `the database files in ${dataFolder} belong to user ${owner.uid}, not to you (${self}): ` +
          'start as that user, or set WFG_DATA_DIR to another folder',
      );
    }
    return undefined;
  }
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  for (const name of ['postgres', '_postgres', 'nobody']) {
    const user = lookUp(name);
    if (user) return user;
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is no user "postgres" or "nobody" to run it as: ' +
      'start as an ordinary user, or set DATABASE_URL',
  );
}

function lookUp(name: string): ServerUser | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return Number(uid) > 0 && Number(gid) > 0 ? { uid: Number(uid), gid: Number(gid) } : undefined;
}

/** Whether that user can enter the folder; asks the system, since modes alone do not tell (parents, ACLs). */
export function canEnter(user: ServerUser, folder: string): boolean {
  const shell = spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...user, cwd: '/', stdio: 'ignore' });
  if (shell.error) {
    throw new Error(
      `cannot start programs as user ${user.uid} (${shell.error.message}): ` +
        'start as an ordinary user, or set DATABASE_URL',
    );
  }
  return shell.status === 0;
}
