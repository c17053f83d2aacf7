// Evaluates expressions, with a bound on the text that all of a job's may work through: a few characters could else
// ask for terabytes.
import { data, Evaluator, type Expr } from '@actions/expressions';
import type { FunctionDefinition } from '@actions/expressions/funcs/info';
import { format } from '@actions/expressions/funcs/format';
import { join } from '@actions/expressions/funcs/join';
import { messageOf } from '../message-of.ts';
import { ExpressionError } from './expression-error.ts';
import type { Expression, StatusFunction } from './parse.ts';
import { parseValue, toJson, type Value } from './values.ts';

/** Characters and values. */
const MAX_WORK = 8 * 1024 * 1024;

export type Status = Record<StatusFunction, boolean>;

/** What expressions of one job are evaluated with. */
export class Work {
  #left = MAX_WORK;

  /** @throws {ExpressionError} when it is used up. */
  spend(amount: number): void {
    this.#left -= amount;
    if (this.#left < 0) {
      throw new ExpressionError(
        'the expressions of the job work through too much text: pass large data by a file',
      );
    }
  }

  /** Throws what `spend` would, and spends nothing. */
  allow(amount: number): void {
    if (amount > this.#left) this.spend(amount);
  }
}

class BoundedEvaluator extends Evaluator {
  readonly #work: Work;

  constructor(tree: Expr, contexts: data.Dictionary, functions: Map<string, FunctionDefinition>, work: Work) {
    super(tree, contexts, functions);
    this.#work = work;
  }

  protected override eval(node: Expr): Value {
    const value = super.eval(node);
    this.#work.spend(sizeOf(value));
    return value;
  }
}

function sizeOf(value: Value): number {
  if (value instanceof data.StringData) return 1 + value.value.length;
  if (!(value instanceof data.Array)) return 1;
  return value
    .values()
    .reduce((sum, item) => sum + (item instanceof data.StringData ? item.value.length : 1), 1);
}

/** What an expression is evaluated among. */
export interface Around {
  contexts: data.Dictionary;
  status: Status;
  work: Work;
}

/** @throws {ExpressionError} with what went wrong. */
export function evaluate({ tree }: Expression, { contexts, status, work }: Around): Value {
  try {
    return new BoundedEvaluator(tree, contexts, functionsOf(status, work), work).evaluate();
  } catch (error) {
    throw error instanceof ExpressionError ? error : new ExpressionError(messageOf(error));
  }
}

/** The library's own where the size of what they make is bounded by what they are given; names in lower case. */
function functionsOf(status: Status, work: Work): Map<string, FunctionDefinition> {
  return new Map([
    ...Object.entries(status).map(([name, value]) => define(name, () => new data.BooleanData(value))),
    define('format', (...args) => {
      const braces = args[0]?.coerceString().split('{').length ?? 0;
      work.allow(braces * Math.max(...args.map((arg) => arg.coerceString().length)));
      return format.call(...args);
    }),
    define('join', (...args) => {
      const [list, separator] = args;
      const items = list instanceof data.Array ? list.values() : [];
      work.allow(items.length * (separator?.coerceString().length ?? 1));
      return join.call(...args);
    }),
    define('toJSON', (value = new data.Null()) => {
      work.allow(jsonSize(value));
      return new data.StringData(JSON.stringify(toJson(value), null, 2));
    }),
    define('fromJSON', (text) => parseValue(text?.coerceString() ?? '')),
  ]);
}

/** About how many characters it has as indented JSON. */
function jsonSize(value: Value, indent = 0): number {
  if (value instanceof data.StringData) return value.value.length;
  if (!(value instanceof data.Array) && !(value instanceof data.Dictionary)) return 1;
  const sizes = value.values().map((item) => indent + jsonSize(item, indent + 2));
  return sizes.reduce((sum, size) => sum + size, 1);
}

function define(name: string, call: FunctionDefinition['call']): [string, FunctionDefinition] {
  return [name.toLowerCase(), { name, minArgs: 0, maxArgs: 255, call }];
}
