// The files that WFG_MODULES names.
import { accessSync, constants, statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { messageOf } from '../rules/message-of.ts';

/** Names the module that ships with the worker. */
export const DEMONSTRATION = 'demonstration';

const ENDINGS = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'];

/** Why no module can be loaded from this file, with its name; null when there is no reason yet. */
export function moduleFault(name: string): string | null {
  if (name === DEMONSTRATION) return null;
  try {
    const stats = statSync(name, { throwIfNoEntry: false });
    if (!stats) return `${name}: there is no file ${resolve(name)}`;
    if (stats.isDirectory()) return `${name}: it is a folder: name a file in it`;
    if (!ENDINGS.includes(extname(name))) return `${name}: its ending is none of ${ENDINGS.join(' ')}`;
    accessSync(name, constants.R_OK);
    return null;
  } catch (error) {
    return `${name}: ${messageOf(error)}`;
  }
}
