// Reads the text of workflow files, long ones in a thread of their own: parsing 16 MiB of YAML takes seconds, or a minute
// of memory without end if it was made for that, and meanwhile this process would answer nobody.
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Definition } from '@wfg/shared/contract/definition';
import { parseJson } from '@wfg/shared/contract/json';
import { WfgError } from '@wfg/shared/contract/problem';
import { readWorkflowFile } from '@wfg/shared/rules/workflow-file';
import pLimit from 'p-limit';
import type { ThreadAnswer } from './workflow-text-thread.ts';

/** Of a workflow file, or a workflow in a body. */
export const MAX_WORKFLOW_BYTES = 16 * 1024 * 1024;
/** Characters that are read in less time than a thread takes to start. */
const SHORT = 64 * 1024;
/** The largest workflow takes a few seconds. */
const LONGEST_MS = 30_000;
const MOST_HEAP_MB = 1_024;
const THREAD = new URL('workflow-text-thread.ts', import.meta.url);

const turn = pLimit(1);

/** Whether to read it may take seconds. */
export function isLongText(text: string): boolean {
  return text.length > SHORT;
}

/**
 * The checked definition in a file's text.
 *
 * @throws {WfgError} malformed_yaml, invalid_workflow; too_large when it takes too much to read it.
 */
export async function readWorkflowText(text: string): Promise<Definition> {
  return isLongText(text) ? turn(() => readAside(text)) : readWorkflowFile(text);
}

async function readAside(text: string): Promise<Definition> {
  const thread = new Worker(THREAD, {
    workerData: text,
    resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MB },
  });
  // A process that stops does not wait for it.
  thread.unref();
  const { promise, resolve } = Promise.withResolvers<ThreadAnswer | null>();
  thread.once('message', resolve);
  // It ran out of memory.
  thread.once('error', () => resolve(null));
  thread.once('exit', () => resolve(null));
  const stopped = new AbortController();
  const late = sleep(LONGEST_MS, null, { signal: stopped.signal, ref: false }).catch(() => null);
  const answer = await Promise.race([promise, late]);
  stopped.abort();
  await thread.terminate();
  if (answer === null) {
    throw new WfgError('too_large', 'it takes too much time or memory to read this YAML: send JSON instead');
  }
  if ('error' in answer) throw new WfgError(answer.error.code, answer.error.message, answer.error.issues);
  return Definition.parse(parseJson(answer.definition));
}
