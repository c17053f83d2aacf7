// Stores the workflows of a folder's files, and the sample where there is nothing at all.
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, parse } from 'node:path';
import type { Definition } from '@wfg/shared/contract/definition';
import { WfgError } from '@wfg/shared/contract/problem';
import { ID_PATTERN } from '@wfg/shared/contract/workflow';
import { errorCode } from '@wfg/shared/db/sqlstate';
import { withTx } from '@wfg/shared/db/tx';
import { loadWorkflow, putFirstWorkflow } from '@wfg/shared/queries/workflows';
import { messageOf } from '@wfg/shared/rules/message-of';
import { SAMPLE_ID, sampleWorkflow } from '@wfg/shared/rules/sample';
import { type Loop, startLoop } from '@wfg/shared/runtime/loop';
import type pg from 'pg';
import type { Logger } from 'pino';
import { MAX_WORKFLOW_BYTES, readWorkflowText } from './workflow-text.ts';

const EXTENSIONS: ReadonlySet<string> = new Set(['.yml', '.yaml', '.json']);

/** Reads the folder now and at each SIGHUP; resolves after the first reading, which is repeated if it failed. */
export async function keepWorkflowFiles(
  pool: pg.Pool,
  folder: string,
  log: Logger,
): Promise<Omit<Loop, 'wake'>> {
  const { promise: tried, resolve } = Promise.withResolvers<void>();
  async function step(): Promise<number> {
    await loadWorkflowFiles(pool, folder, log).finally(resolve);
    return Number.POSITIVE_INFINITY;
  }
  const loop = startLoop({ name: 'workflow-files', step, log });
  process.on('SIGHUP', loop.wake);
  await tried;
  return {
    problem: loop.problem,
    async [Symbol.asyncDispose]() {
      process.off('SIGHUP', loop.wake);
      await loop[Symbol.asyncDispose]();
    },
  };
}

/**
 * Reads every file of the folder; the stem of its name is the workflow's id. A file that cannot be used is logged, with
 * its place, and does not stop the rest. Rejects when the database is away: call it again.
 */
async function loadWorkflowFiles(pool: pg.Pool, folder: string, log: Logger): Promise<void> {
  const files = new Map<string, string>();
  for (const name of await fileNames(folder)) {
    const { name: id, ext } = parse(name);
    if (!EXTENSIONS.has(ext) || name.startsWith('.')) continue;
    const file = join(folder, name);
    const other = files.get(id);
    if (!ID_PATTERN.test(id))
      log.warn({ file }, `${file}: its name must match [A-Za-z0-9_.-]{1,255}: rename it`);
    else if (other) log.warn({ file }, `${file}: ${other} has the same id: rename one of them`);
    else files.set(id, file);
  }
  let stored = 0;
  for (const [id, file] of files) if (await loadFile(pool, id, file, log)) stored++;
  if (await putFirstWorkflow(pool, SAMPLE_ID, sampleWorkflow())) log.info({ id: SAMPLE_ID }, 'sample stored');
  log.info({ folder, files: files.size, stored }, 'workflow files read');
}

/** In the order of their names, so that several apis which start together lock rows in the same order. */
async function fileNames(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return [];
    throw new Error(`WORKFLOWS_DIR ${folder} cannot be read: ${messageOf(err)}`, {
      cause: err,
    });
  }
}

async function loadFile(pool: pg.Pool, id: string, file: string, log: Logger): Promise<boolean> {
  const read = await readDefinition(file, log);
  if (read === null) return false;
  return withTx(pool, (tx) => loadWorkflow(tx, id, read.definition, hashOf(read.text)));
}

async function readDefinition(
  file: string,
  log: Logger,
): Promise<{ text: string; definition: Definition } | null> {
  try {
    const found = await stat(file);
    // A pipe would be waited for, and all other files with it.
    if (!found.isFile()) throw new Error('it is no file');
    if (found.size > MAX_WORKFLOW_BYTES) throw new Error('it is larger than 16 MiB');
    const text = await readFile(file, 'utf8');
    return { text, definition: await readWorkflowText(text) };
  } catch (err) {
    const errors = err instanceof WfgError ? err.issues : [];
    log.warn({ file, errors }, `${file}: ${messageOf(err)}`);
    return null;
  }
}

/** Of the text alone: another version of wfg may make something else of it, and that does not undo a PUT. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
