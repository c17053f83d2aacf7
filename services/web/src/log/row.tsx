// One row of the log viewer. Numbers and marks are drawn by the style sheet or kept out of selections, so copying gives text.
import type { Line } from './store.ts';
import { TerminalText } from './terminal-text.tsx';

/** Characters of one line that are drawn; more than any screen shows, less than what makes a browser slow. */
export const SHOWN = 4_096;

export function LogRow({ line }: { line: Line }) {
  if (line.stream === null) return <div class="log-row log-note">{line.text}</div>;
  const hidden = Math.max(0, line.text.length - SHOWN) + line.cut;
  return (
    <div class="log-row" data-stream={line.stream}>
      <span class="log-number" data-number={line.number} />
      {line.stream === 'stderr' && <span class="unseen">stderr: </span>}
      <TerminalText text={line.text.slice(0, SHOWN)} />
      {hidden > 0 && <span class="log-cut"> … {hidden.toLocaleString()} more characters</span>}
    </div>
  );
}
