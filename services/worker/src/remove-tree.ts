// Removes what a job left on disk, also out of folders that it made read-only.

import { chmod, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Removes a folder and all in it. What does not exist is fine; what another user owns there is an error. */
export async function removeTree(path: string): Promise<void> {
  // Most are empty, for which this is several times cheaper.
  const isGone = await rmdir(path).then(
    () => true,
    () => false,
  );
  if (isGone) return;
  try {
    await remove(path);
  } catch {
    await openFolders(path);
    await remove(path);
  }
}

/** A process that a job left behind may still be writing. */
function remove(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 20 });
}

async function openFolders(path: string): Promise<void> {
  await chmod(path, 0o700);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await openFolders(join(path, entry.name));
  }
}
