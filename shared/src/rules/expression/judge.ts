// Whether a job runs, and with what: its condition and its `${{ }}`, evaluated once all it needs has ended. Pure.
import { truthy } from '@actions/expressions/result';
import type { CommandSpec, Step } from '../../contract/command.ts';
import type { DefinedStep, SpecTemplate } from '../../contract/definition.ts';
import type { Outputs } from '../../contract/job.ts';
import { Env, MAX_PAYLOAD_BYTES } from '../../contract/workflow.ts';
import { type Around, evaluate, type Status, Work } from './evaluate.ts';
import { ExpressionError } from './expression-error.ts';
import { mapStrings } from './map-strings.ts';
import { parseExpression } from './parse.ts';
import { fillJson, fillText, hasExpression, parseTemplate, type Template } from './template.ts';
import { Names, toValue } from './values.ts';

/** A job as it was submitted: a command's spec, or a handler's payload. */
export interface Submitted {
  condition: string | null;
  spec: SpecTemplate | null;
  payload: unknown;
}

export type Result = 'success' | 'failure' | 'cancelled' | 'skipped';

export interface Facts {
  /** The run's: the workflow's, and over it that of the start. */
  env: Env;
  /** Every direct dependency. */
  needs: Record<string, { result: Result; outputs: Outputs }>;
  /** `ok`: all of them completed; `failed`: one of them failed. */
  ancestors: { ok: boolean; failed: boolean };
  /** Whether the run is asked to cancel. */
  cancelled: boolean;
}

/** With `run`, what is executed: nothing in it is left to evaluate. */
export type Verdict = { run: false } | { run: true; spec: CommandSpec | null; payload: unknown };

/**
 * Judges a job that is no longer blocked. In its condition and its `env`, `env` is the run's; in `with` and in steps the
 * job's goes before it.
 *
 * @throws {ExpressionError} when an expression cannot be evaluated; the message tells its user which, and why.
 */
export function judge({ condition, spec, payload }: Submitted, facts: Facts): Verdict {
  const { ancestors, cancelled } = facts;
  const judging = new Judging(facts);
  const success = ancestors.ok && !cancelled;
  const status = { success, failure: ancestors.failed, always: true, cancelled };
  if (!judging.holds('if', condition ?? 'success()', facts.env, status)) return { run: false };
  return { run: true, spec: spec && judging.spec(spec), payload: judging.payload(payload) };
}

/** What a step sees: the job goes on, or one of its steps has failed. */
const SUCCEEDING = { success: true, failure: false, always: true, cancelled: false };
const FAILING = { ...SUCCEEDING, success: false, failure: true };

/** What the expressions of one job have in common. */
class Judging {
  readonly #runEnv: Env;
  readonly #needs: Names;
  readonly #work = new Work();

  constructor({ env, needs }: Facts) {
    this.#runEnv = env;
    this.#needs = new Names(Object.entries(needs).map(([job, need]) => [job, toValue(need)] as const));
  }

  /** An expression that asks for no status has `success() && ` before it. */
  holds(place: string, text: string, env: Env, status: Status): boolean {
    return within(place, () => {
      const expression = parseExpression(text, { isNeeded: this.#isNeeded, status: true });
      if (expression.calls.size === 0 && !status.success) return false;
      return truthy(evaluate(expression, this.#around(env, status)));
    });
  }

  spec({ run, steps, env, mask, not_on }: SpecTemplate): CommandSpec {
    const jobEnv = this.#fillEnv('', env, this.#runEnv);
    const seen = { ...this.#runEnv, ...jobEnv };
    return { run, steps: steps?.map((step) => this.#step(step, seen)) ?? null, env: jobEnv, mask, not_on };
  }

  payload(json: unknown): unknown {
    const filled = mapStrings(json, 'with', (text, place) => this.#fill(place, text, this.#runEnv, fillJson));
    if (Buffer.byteLength(JSON.stringify(filled)) > MAX_PAYLOAD_BYTES) {
      throw new ExpressionError('with: is larger than 1 MiB: hand over a place where the data is');
    }
    return filled;
  }

  #step({ label, run, env, timeout, if: condition }: DefinedStep, jobEnv: Env): Step {
    const place = `step '${label}': `;
    const stepEnv = this.#fillEnv(place, env, jobEnv);
    const base = { label, run, env: stepEnv, timeout };
    if (condition === null) return { ...base, on_success: true, on_failure: false };
    const seen = { ...jobEnv, ...stepEnv };
    const holds = (status: Status) => this.holds(`${place}if`, condition, seen, status);
    return { ...base, on_success: holds(SUCCEEDING), on_failure: holds(FAILING) };
  }

  #fillEnv(place: string, env: Env, seen: Env): Env {
    const entries = Object.entries(env).map(([name, text]) => {
      return [name, this.#fill(`${place}env.${name}`, text, seen, fillText)] as const;
    });
    const filled = Env.safeParse(Object.fromEntries(entries));
    if (filled.success) return filled.data;
    throw new ExpressionError(`${place}env: ${filled.error.issues[0]?.message}`);
  }

  #fill<T>(
    place: string,
    text: string,
    env: Env,
    fill: (template: Template, around: Around) => T,
  ): T | string {
    if (!hasExpression(text)) return text;
    return within(place, () => {
      const template = parseTemplate(text, { isNeeded: this.#isNeeded, status: false });
      return fill(template, this.#around(env, SUCCEEDING));
    });
  }

  #around(env: Env, status: Status): Around {
    this.#work.spend(Object.keys(env).length);
    const contexts = new Names([
      ['needs', this.#needs],
      ['env', toValue(env)],
    ]);
    return { contexts, status, work: this.#work };
  }

  readonly #isNeeded = (job: string) => this.#needs.get(job) !== undefined;
}

/** Says in an error where the expression stands. */
function within<T>(place: string, fn: () => T): T {
  try {
    return fn();
  } catch (error) {
    throw error instanceof ExpressionError ? new ExpressionError(`${place}: ${error.message}`) : error;
  }
}
