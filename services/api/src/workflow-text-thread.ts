// The thread that reads one long workflow file.
import { parentPort, workerData } from 'node:worker_threads';
import { type Issue, type ProblemCode, WfgError } from '@wfg/shared/contract/problem';
import { readWorkflowFile } from '@wfg/shared/rules/workflow-file';

/** The definition as JSON: what keeps the digits of large integers cannot be passed between threads. */
export type ThreadAnswer =
  | { definition: string }
  | { error: { code: ProblemCode; message: string; issues: Issue[] } };

function read(text: string): ThreadAnswer {
  try {
    return { definition: JSON.stringify(readWorkflowFile(text)) };
  } catch (error) {
    if (!(error instanceof WfgError)) throw error;
    const { code, message, issues } = error;
    return { error: { code, message, issues } };
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.postMessage(read(String(workerData)));
