// The rules of the layout: who may import whom, how files are named, and how long they get.

import { dirname, join } from 'node:path/posix';

/** Each may import what stands before it. */
const LAYERS = ['contract', 'rules', 'sdk', 'client', 'db', 'queries', 'runtime'];

const LINE_LIMIT = 300;

/** Names that say nothing about what is inside. */
const EMPTY_NAME = /(^|[/-])(utils?|common|helpers?|misc)([/.-]|$)/;

interface Import {
  target: string;
  typeOnly: boolean;
}

/** What is wrong with a file, by its path from the repository's root (with slashes) and its text. */
export function faultsOf(path: string, text: string): string[] {
  const faults: string[] = [];
  if (EMPTY_NAME.test(path)) faults.push(`${path}: the name says nothing`);
  const lines = text.split('\n').length - 1;
  if (lines > LINE_LIMIT) faults.push(`${path}: ${lines} lines, more than ${LINE_LIMIT}`);
  if (/skip\s+locked/i.test(text) && !/^(shared\/src\/queries|migrations|test)\//.test(path)) {
    faults.push(`${path}: SKIP LOCKED belongs in shared/src/queries, where the queries that take work are`);
  }
  if (path.startsWith('test/')) return faults;
  for (const found of importsOf(text)) {
    const fault = importFault(path, found);
    if (fault) faults.push(`${path}: imports ${found.target}, ${fault}`);
  }
  return faults;
}

function importsOf(text: string): Import[] {
  const found: Import[] = [];
  const statements = /^\s*(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]/gm;
  for (const [, type, target] of text.matchAll(statements)) {
    if (target) found.push({ target, typeOnly: type !== undefined });
  }
  for (const [, target] of text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g)) {
    if (target) found.push({ target, typeOnly: false });
  }
  return found;
}

function importFault(path: string, { target, typeOnly }: Import): string | undefined {
  const file = fileOf(path, target);
  if (file === undefined) return undefined;
  const from = placeOf(path);
  const to = placeOf(file);
  if (target.startsWith('.') && from.package !== to.package) return 'which leaves its package: use its name';
  if (target.startsWith('.') && !/\.\w+$/.test(target)) return 'without the ending of the file';
  if (from.package === 'shared') {
    if (to.package !== 'shared') return 'and nothing in shared may know a service';
    return to.rank > from.rank ? 'which stands above it' : undefined;
  }
  if (to.package === 'shared') {
    const forBrowser =
      from.package !== 'services/web' || (typeOnly && to.rank === LAYERS.indexOf('contract'));
    return forBrowser ? undefined : 'and the browser client may only have types of the contract';
  }
  return from.package === to.package ? undefined : 'and no service may import another';
}

/** The file of ours that an import means, as far as it is ours. */
function fileOf(path: string, target: string): string | undefined {
  if (target.startsWith('.')) return join(dirname(path), target);
  // The name by which modules of handlers and tasks know it.
  if (target === '@wfg/sdk') return 'shared/src/sdk/sdk.ts';
  const [, name, rest] = /^@wfg\/([a-z]+)(?:\/(.*))?$/.exec(target) ?? [];
  if (!name) return undefined;
  return name === 'shared' ? `shared/src/${rest ?? ''}` : `services/${name}/${rest ?? ''}`;
}

function placeOf(path: string): { package: string; rank: number } {
  const parts = path.split('/');
  const isService = parts[0] === 'services';
  return { package: parts.slice(0, isService ? 2 : 1).join('/'), rank: LAYERS.indexOf(parts[2] ?? '') };
}
