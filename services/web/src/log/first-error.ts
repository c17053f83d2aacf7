// Where a reader of a failed job looks first. Pure.
import type { Line } from './store.ts';

const ERROR = /\b(error|errors|failed|failure|fatal|panic|exception|traceback)\b|\w(Error|Exception)\b/i;
const NONE = /\b(0|no|zero) (errors?|failed|failures?)\b/i;

/** The index of the first line of the last attempt that speaks of an error, else of its first on stderr; null: none. */
export function firstError(lines: readonly Line[]): number | null {
  const attempt = lines.at(-1)?.attempt;
  let onStderr: number | null = null;
  for (const [index, line] of lines.entries()) {
    if (line.attempt !== attempt || line.stream === null) continue;
    if (ERROR.test(line.text) && !NONE.test(line.text)) return index;
    if (line.stream === 'stderr') onStderr ??= index;
  }
  return onStderr;
}
