// Parts of a log that fold: what stands between `::group::` and `::endgroup::`, and under a step's banner. Pure.
import { plainText } from './ansi.ts';
import type { Line } from './store.ts';

export interface Group {
  title: string;
  /** Index of the line that begins it; it stays when the rest is folded. */
  begin: number;
  /** Index of its last line, which for `::endgroup::` is that; null while it goes on. */
  end: number | null;
  /** Some of it came from stderr. */
  hasErrors: boolean;
  isStep: boolean;
}

export interface Folds {
  /** In the order of their first lines. */
  groups: readonly Group[];
  /** Takes in what has been added to the lines since. */
  read: (lines: readonly Line[]) => void;
}

const GROUP = '::group::';
export const END_GROUP = '::endgroup::';
const STEP = /^=== (.*) ===$/;

export function createFolds(): Folds {
  const groups: Group[] = [];
  let open: Group[] = [];
  let step: Group | null = null;
  let next = 0;

  function begin(title: string, index: number, isStep: boolean): Group {
    const group = { title, begin: index, end: null, hasErrors: false, isStep };
    groups.push(group);
    return group;
  }

  function endAll(index: number): void {
    for (const group of [...open, ...(step ? [step] : [])]) group.end = index;
    open = [];
    step = null;
  }

  function take({ text, stream }: Line, index: number): void {
    // A note is where another attempt begins.
    if (stream === null) return endAll(index - 1);
    const banner = text.startsWith('===') ? STEP.exec(plainText(text)) : null;
    if (banner) {
      endAll(index - 1);
      step = begin(banner[1] ?? '', index, true);
    } else if (text.startsWith(GROUP))
      open.push(begin(plainText(text.slice(GROUP.length)).trim(), index, false));
    else if (text.startsWith(END_GROUP)) {
      const group = open.pop();
      if (group) group.end = index;
    } else if (stream === 'stderr')
      for (const group of [...open, ...(step ? [step] : [])]) group.hasErrors = true;
  }

  return {
    groups,
    read(lines) {
      // The last line may grow: it is looked at when it has another behind it.
      for (; next < lines.length - 1; next++) {
        const line = lines[next];
        if (line) take(line, next);
      }
    },
  };
}

/**
 * Whether a group is folded unless the reader has said otherwise: one that ended without an error, but for the last of a
 * job that failed. Steps are open.
 */
export function foldsByItself(group: Group, isLast: boolean, hasFailed: boolean): boolean {
  return !group.isStep && group.end !== null && !group.hasErrors && !(isLast && hasFailed);
}

/** Indexes of the lines that are left when these groups are folded; null: all of them. */
export function unfolded(
  lines: readonly Line[],
  folded: readonly Group[],
  isShown: ((line: Line) => boolean) | null,
): number[] | null {
  if (folded.length === 0 && isShown === null) return null;
  const left: number[] = [];
  let from = 0;
  const keep = (until: number) => {
    for (; from < until; from++) {
      const line = lines[from];
      if (line && (isShown === null || isShown(line))) left.push(from);
    }
  };
  for (const { begin, end } of folded) {
    // Within one that is folded already.
    if (begin < from) continue;
    keep(begin + 1);
    from = end === null ? lines.length : end + 1;
  }
  keep(lines.length);
  return left;
}
