// A workflow file as the body of POST /api/runs, checked here first: the server cannot say at which line a fault is.
import { WfgError } from '@wfg/shared/contract/problem';
import { WorkflowInput } from '@wfg/shared/contract/workflow';
import { parseWorkflowFile, readWorkflowFile } from '@wfg/shared/rules/workflow-file';
import { usage } from './exit-error.ts';

const MAX_SHOWN = 20;

/**
 * The file's own content, its `env` changed by `overrides` (`K=V`). Throws with each fault on a line of its own,
 * beginning with the file's name.
 */
export function readWorkflow(file: string, text: string, overrides: readonly string[]): WorkflowInput {
  try {
    readWorkflowFile(text);
  } catch (err) {
    if (err instanceof WfgError) throw usage(faults(file, err));
    throw err;
  }
  const content = WorkflowInput.parse(parseWorkflowFile(text).content);
  if (overrides.length === 0) return content;
  return { ...content, env: { ...content.env, ...envOf(overrides) } };
}

/** Of `--env` options, each `K=V`. */
export function envOf(overrides: readonly string[]): Record<string, string> {
  return Object.fromEntries(overrides.map(pair));
}

function pair(override: string): [string, string] {
  const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(override) ?? [];
  if (name === undefined || value === undefined) {
    throw usage(`--env takes NAME=VALUE, the name of letters, digits and _, and is "${override}"`);
  }
  return [name, value];
}

function faults(file: string, error: WfgError): string {
  if (error.issues.length === 0) return `${file}: ${error.message}`;
  const shown = error.issues.slice(0, MAX_SHOWN).map(({ path, message }) => {
    const [, place = '', rest = message] = /^(line \d+, column \d+: )(.*)$/s.exec(message) ?? [];
    return `${file}: ${place}${path === '' ? '' : `${path}: `}${rest}`;
  });
  const more = error.issues.length - shown.length;
  return [...shown, ...(more > 0 ? [`${file}: and ${more} more`] : [])].join('\n');
}
