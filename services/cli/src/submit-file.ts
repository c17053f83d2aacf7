// Submits a workflow file, or what comes on standard input: what `wfg run` and `wfg submit` have in common.
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { submitRun } from '@wfg/shared/contract/routes/runs';
import type { Run } from '@wfg/shared/contract/run';
import type { WorkflowInput } from '@wfg/shared/contract/workflow';
import type { Values } from './command.ts';
import { errorWords } from './error-words.ts';
import { usage } from './exit-error.ts';
import type { HttpClient } from './http-client.ts';
import { say } from './output.ts';
import { SERVER_OPTIONS } from './server.ts';
import { readWorkflow } from './workflow-body.ts';

/** Options of the commands that submit. */
export const SUBMIT_OPTIONS = {
  env: { type: 'string', multiple: true },
  ...SERVER_OPTIONS,
  json: { type: 'boolean' },
} as const;

/** The workflow of FILE, `-` for standard input, with `--env` applied; checked. */
export async function readSubmission(file: string, values: Values): Promise<WorkflowInput> {
  const env = (Array.isArray(values.env) ? values.env : []).map(String);
  if (file !== '-') return readWorkflow(file, readText(file), env);
  if (process.stdin.isTTY) say('reading the workflow from the terminal: Ctrl-D ends it');
  return readWorkflow('standard input', await text(process.stdin), env);
}

/** Starts a run of it: the run, and the address of its page. */
export async function submit(http: HttpClient, workflow: WorkflowInput): Promise<{ run: Run; page: string }> {
  const run = await http(submitRun, { body: workflow });
  return { run, page: new URL(`runs/${run.run_id}`, http.server.base).href };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (err) {
    throw usage(`cannot read ${file}: ${errorWords(err)}`);
  }
}
