// Reads expressions in GitHub's language, and refuses what could never be evaluated.
import { type Expr, Lexer, Parser } from '@actions/expressions';
import * as ast from '@actions/expressions/ast';
import { ExpressionError as LibraryError } from '@actions/expressions/errors';
import { type Token, TokenType } from '@actions/expressions/lexer';
import { messageOf } from '../message-of.ts';
import { ExpressionError } from './expression-error.ts';

const STATUS_FUNCTIONS = ['success', 'failure', 'always', 'cancelled'] as const;
export type StatusFunction = (typeof STATUS_FUNCTIONS)[number];
const CONTEXTS = ['needs', 'env'];
const FUNCTIONS = ['contains', 'startsWith', 'endsWith', 'format', 'join', 'toJSON', 'fromJSON', 'case'];
const PROPERTIES = ['result', 'outputs'];

/** GitHub's own limit, in characters. */
const MAX_EXPRESSION = 21_000;
/** Of a tree. The library bounds only what stands in brackets, but `1 == 1 == 1 …` nests as well. */
const MAX_LEVELS = 100;

/** What an expression may speak of. */
export interface Scope {
  /** Whether the job of this name is a direct dependency. */
  isNeeded: (job: string) => boolean;
  /** Whether `success()` and its like mean something here. */
  status: boolean;
}

export interface Expression {
  tree: Expr;
  /** The status functions that it calls. */
  calls: ReadonlySet<StatusFunction>;
}

/** @throws {ExpressionError} when it cannot be read, or speaks of what there is not. */
export function parseExpression(text: string, scope: Scope): Expression {
  if (text.trim() === '') throw new ExpressionError('the expression is empty');
  if (text.length > MAX_EXPRESSION) {
    throw new ExpressionError(`the expression is longer than ${MAX_EXPRESSION} characters`);
  }
  const tree = parseTree(text);
  return { tree, calls: check(tree, scope) };
}

function parseTree(text: string): Expr {
  try {
    const tokens = new Lexer(text).lex().tokens.map(unquoted);
    const statusFunctions = STATUS_FUNCTIONS.map((name) => ({ name, minArgs: 0, maxArgs: 0 }));
    return new Parser(tokens, CONTEXTS, statusFunctions).parse();
  } catch (error) {
    throw new ExpressionError(explain(error, text));
  }
}

/** The library halves only the first of the doubled quotes in a text. */
function unquoted(token: Token): Token {
  if (token.type !== TokenType.STRING) return token;
  return { ...token, value: token.lexeme.slice(1, -1).replaceAll("''", "'") };
}

const ADVICE: readonly [RegExp, string][] = [
  [/named-value/i, 'there are needs and env, and text stands in single quotes'],
  [/recognized function/i, `there are ${[...FUNCTIONS, ...STATUS_FUNCTIONS].join(', ')}`],
  [/symbol: '"/, 'text stands in single quotes'],
  [/symbol: '\$\{\{/, '${{ }} is not written inside an expression, and around all of it or not at all'],
];

/** The library's message with the place, without the text itself, and with advice. */
function explain(error: unknown, text: string): string {
  const [what = '', position] = messageOf(error).split(/\. Located at position (\d+) within/);
  const short = what.length > 200 ? `${what.slice(0, 200)}…` : what;
  const advice = ADVICE.find(([pattern]) => pattern.test(what))?.[1];
  return `${short}${placeOf(error, text, position)}${advice ? `: ${advice}` : ''}`;
}

function placeOf(error: unknown, text: string, position: string | undefined): string {
  if (position) return ` at character ${position}`;
  if (!(error instanceof LibraryError)) return '';
  return text.includes('\n') ? ` in line ${error.pos.line + 1}` : ` at character ${error.pos.column + 1}`;
}

/** The status functions that the tree calls. Walks without recursion, so no tree is too deep for it. */
function check(root: Expr, scope: Scope): Set<StatusFunction> {
  const calls = new Set<StatusFunction>();
  const open = [{ node: root, level: 1 }];
  for (let at = open.pop(); at; at = open.pop()) {
    const { node, level } = at;
    if (level > MAX_LEVELS) throw new ExpressionError(`the expression has more than ${MAX_LEVELS} levels`);
    if (node instanceof ast.FunctionCall) {
      const called = checkCall(node.functionName.lexeme, scope);
      if (called) calls.add(called);
    }
    if (node instanceof ast.IndexAccess) checkAccess(node, scope);
    for (const child of childrenOf(node)) open.push({ node: child, level: level + 1 });
  }
  return calls;
}

function childrenOf(node: Expr): Expr[] {
  if (node instanceof ast.Unary) return [node.expr];
  if (node instanceof ast.Binary) return [node.left, node.right];
  if (node instanceof ast.Grouping) return [node.group];
  if (node instanceof ast.IndexAccess) return [node.expr, node.index];
  if (node instanceof ast.Logical || node instanceof ast.FunctionCall) return node.args;
  return [];
}

/** The library also takes `constructor` for a function, as an object of JavaScript has it. */
function checkCall(name: string, scope: Scope): StatusFunction | null {
  const isNamed = (known: string) => known.toLowerCase() === name.toLowerCase();
  const status = STATUS_FUNCTIONS.find(isNamed) ?? null;
  if (status && !scope.status) throw new ExpressionError(`${status}() can only be asked in an 'if'`);
  if (!status && !FUNCTIONS.some(isNamed)) {
    throw new ExpressionError(`Unrecognized function: '${name}': there are ${FUNCTIONS.join(', ')}`);
  }
  return status;
}

/** `needs.<job>` and `needs.<job>.<property>`, where the names are written out. */
function checkAccess({ expr, index }: ast.IndexAccess, scope: Scope): void {
  if (!(index instanceof ast.Literal)) return;
  // What stands further to the left is the cause of what seems wrong to the right of it.
  if (expr instanceof ast.IndexAccess) checkAccess(expr, scope);
  const name = index.literal.coerceString();
  if (isNeeds(expr) && !scope.isNeeded(name)) {
    throw new ExpressionError(
      `needs has no '${name}': only jobs in the job's own 'needs' can be asked, others than [A-Za-z0-9_-] as needs['a.b']`,
    );
  }
  if (expr instanceof ast.IndexAccess && isNeeds(expr.expr) && !PROPERTIES.includes(name.toLowerCase())) {
    throw new ExpressionError(`a job in needs has no '${name}': it has result and outputs`);
  }
}

function isNeeds(node: Expr): boolean {
  return node instanceof ast.ContextAccess && node.name.lexeme.toLowerCase() === 'needs';
}
