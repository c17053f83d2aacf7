// One row of the log viewer. Numbers, times and marks are drawn by the style sheet or kept out of selections, so that
// copying gives text.
import { END_GROUP, type Group } from './fold.ts';
import type { Matcher } from './search.ts';
import type { Line } from './store.ts';
import { TerminalText } from './terminal-text.tsx';

/** Characters of one line that are drawn; more than any screen shows, less than what makes a browser slow. */
export const SHOWN = 4_096;

interface Props {
  line: Line;
  /** Pixels. */
  height: number;
  /** Beside the number; none when null. */
  time: string | null;
  /** Named by the address. */
  isPointed: boolean;
  /** The match that is gone to. */
  isFound: boolean;
  matcher: Matcher | null;
  /** Of a line that begins one. */
  group: { group: Group; isFolded: boolean } | undefined;
  onFold: (begin: number, isFolded: boolean) => void;
}

export function LogRow({ line, height, time, isPointed, isFound, matcher, group, onFold }: Props) {
  const style = { height: `${height}px` };
  if (line.stream === null)
    return (
      <div class="log-row log-note" style={style}>
        {line.text}
      </div>
    );
  const hidden = Math.max(0, line.text.length - SHOWN) + line.cut;
  return (
    <div
      class="log-row"
      style={style}
      data-stream={line.stream}
      data-pointed={isPointed ? '' : undefined}
      data-found={isFound ? '' : undefined}
      data-marker={line.text.startsWith(END_GROUP) ? '' : undefined}
    >
      <a
        class="log-number"
        href={`#L${line.number}`}
        tabIndex={-1}
        aria-label={`Line ${line.number}`}
        data-number={line.number}
        data-attempt={line.attempt}
      />
      {time !== null && <span class="log-time" data-time={time} />}
      {line.stream === 'stderr' && <span class="unseen">stderr: </span>}
      {group ? (
        <FoldButton {...group} onFold={onFold} />
      ) : (
        <TerminalText text={line.text.slice(0, SHOWN)} matcher={matcher} />
      )}
      {hidden > 0 && <span class="log-cut"> … {hidden.toLocaleString()} more characters</span>}
    </div>
  );
}

function FoldButton({ group, isFolded, onFold }: Props['group'] & {} & Pick<Props, 'onFold'>) {
  const lines = group.end === null ? null : group.end - group.begin - (group.isStep ? 0 : 1);
  return (
    <button
      type="button"
      class="log-fold"
      aria-expanded={!isFolded}
      onClick={() => onFold(group.begin, !isFolded)}
    >
      {group.title || 'group'}
      {isFolded && lines !== null && <span class="log-cut"> {lines.toLocaleString()} lines</span>}
    </button>
  );
}
