// The expressions of a job as its author wrote them: checked, and what they say about when it is judged.
import { data } from '@actions/expressions';
import type { Tolerates } from '../../contract/definition.ts';
import type { FileJob } from '../../contract/workflow.ts';
import { ExpressionError } from './expression-error.ts';
import { mapStrings } from './map-strings.ts';
import { type Expression, parseExpression } from './parse.ts';
import { hasExpression, parseTemplate, unwrapped } from './template.ts';
import { Names } from './values.ts';

/** Tells of a fault at a dotted path below the job. */
export type Report = (path: string, message: string) => void;

export interface Conditions {
  /** `success()` when there is none and yet something to evaluate; null when there is nothing. */
  condition: string | null;
  tolerates: Tolerates;
  /** Of each step, as they stand in the file. */
  steps: (string | null)[];
}

/** Reads every expression of a job with these dependencies; those that could not be evaluated are reported. */
export function conditionsOf(job: FileJob, needs: readonly string[], report: Report): Conditions {
  const names = new Names(needs.map((need) => [need, new data.Null()] as const));
  const isNeeded = (name: string) => names.get(name) !== undefined;
  let templates = 0;

  const checkText = (path: string, text: string) => {
    if (!hasExpression(text)) return;
    templates += 1;
    checked(path, report, () => parseTemplate(text, { isNeeded, status: false }));
  };
  const checkEnv = (path: string, env: Record<string, string> = {}) => {
    for (const [name, text] of Object.entries(env)) checkText(`${path}.${name}`, text);
  };
  const readIf = (path: string, given: string | boolean | undefined): Checked | null => {
    if (given === undefined) return null;
    return checked(path, report, () => {
      const text = unwrapped(String(given));
      return { text, calls: parseExpression(text, { isNeeded, status: true }).calls };
    });
  };

  const own = readIf('if', job.if);
  const steps = (job.steps ?? []).map((step, index) => readIf(`steps.${index}.if`, step.if)?.text ?? null);
  checkEnv('env', job.env);
  for (const [index, step] of (job.steps ?? []).entries()) checkEnv(`steps.${index}.env`, step.env);
  checked('with', report, () => mapStrings(job.with, 'with', (text, path) => checkText(path, text)));

  const isJudged = templates > 0 || steps.some((text) => text !== null);
  return { condition: own?.text ?? (isJudged ? 'success()' : null), tolerates: tolerated(own), steps };
}

interface Checked {
  text: string;
  calls: Expression['calls'];
}

function checked<T>(path: string, report: Report, fn: () => T): T | null {
  try {
    return fn();
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    report(path, error.message);
    return null;
  }
}

/** Without a status function, `success() && ` stands before the expression. */
function tolerated(own: Checked | null): Tolerates {
  if (!own || own.calls.size === 0) return 'nothing';
  return own.calls.has('always') || own.calls.has('cancelled') ? 'cancel' : 'failure';
}
