// Text with `${{ }}` in it.
import { type Around, evaluate } from './evaluate.ts';
import { ExpressionError } from './expression-error.ts';
import { type Expression, parseExpression, type Scope } from './parse.ts';
import { toJson, type Value } from './values.ts';

/** Literal texts and expressions in turn. */
export type Template = readonly (string | Expression)[];

/** @throws {ExpressionError} when an expression is not closed, or wrong. */
export function parseTemplate(text: string, scope: Scope): Template {
  const parts: (string | Expression)[] = [];
  let end = 0;
  for (let start = text.indexOf('${{'); start >= 0; start = text.indexOf('${{', end)) {
    if (start > end) parts.push(text.slice(end, start));
    const close = closeOf(text, start + 3);
    parts.push(parseExpression(text.slice(start + 3, close), scope));
    end = close + 2;
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

export function hasExpression(text: string): boolean {
  return text.includes('${{');
}

/**
 * An `if`, which may stand in `${{ }}` or not, without it.
 *
 * @throws {ExpressionError} when only a part of it stands there: such a text would always be true.
 */
export function unwrapped(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('${{')) return trimmed;
  const close = closeOf(trimmed, 3);
  if (close + 2 === trimmed.length) return trimmed.slice(3, close).trim();
  throw new ExpressionError('${{ }} stands around the whole expression, or not at all');
}

/** Where the `}}` is that is not in quotes. */
function closeOf(text: string, from: number): number {
  for (let at = from, quoted = false; at < text.length; at++) {
    if (text[at] === "'") quoted = !quoted;
    else if (!quoted && text.startsWith('}}', at)) return at;
  }
  throw new ExpressionError("a '${{' has no '}}' behind it");
}

/** The text with the values of its expressions. */
export function fillText(template: Template, around: Around): string {
  const texts = template.map((part) => {
    return typeof part === 'string' ? part : textOf(evaluate(part, around));
  });
  around.work.spend(texts.reduce((sum, text) => sum + text.length, 0));
  return texts.join('');
}

/** The value itself, with its type, where the template is one expression and nothing else. */
export function fillJson(template: Template, around: Around): unknown {
  const [only] = template;
  if (template.length !== 1 || only === undefined || typeof only === 'string')
    return fillText(template, around);
  return toJson(evaluate(only, around));
}

function textOf(value: Value): string {
  if (value.primitive) return value.coerceString();
  throw new ExpressionError('the value is a list or a map, not text: use toJSON() or join()');
}
