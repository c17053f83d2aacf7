// How a log is shown: what is folded and left out, how times and long lines look, and which line is gone to.
import { type ReadonlySignal, type Signal, signal, useComputed, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { createFolds, foldsByItself, type Group, unfolded } from './fold.ts';
import { evenHeights, rowsOf, wrappedHeights } from './measure.ts';
import { SHOWN } from './row.tsx';
import type { Line, LogStore } from './store.ts';

export const TIMES = ['off', 'since the start', 'since the line before', 'clock'] as const;
export type Times = (typeof TIMES)[number];

/** The reader's, for all logs. */
const times = kept<Times>('times', 'off', TIMES);
const wrap = kept<'no' | 'yes'>('wrap', 'no', ['no', 'yes']);

/** A choice that outlasts the page. */
function kept<T extends string>(name: string, first: T, all: readonly T[]): Signal<T> {
  const key = `wfg log ${name}`;
  const choice = signal(all.find((one) => one === localStorage.getItem(key)) ?? first);
  choice.subscribe((value) => localStorage.setItem(key, value));
  return choice;
}

export type View = ReturnType<typeof useView>;

export function useView(
  store: LogStore,
  version: ReadonlySignal<number>,
  hasFailed: ReadonlySignal<boolean>,
) {
  const folds = useMemo(createFolds, [store]);
  /** What the reader has folded or opened, by the group's first line. */
  const chosen = useSignal<ReadonlyMap<number, boolean>>(new Map());
  const errorsOnly = useSignal(false);
  /** Characters in a row; 0 while that is not known. */
  const columns = useSignal(0);
  /** A line to be brought into view. */
  const target = useSignal<number | null>(null);

  const groups = useComputed(() => {
    void version.value;
    folds.read(store.lines);
    return new Map(
      folds.groups.map((group, index) => [group.begin, { group, isFolded: isFolded(group, index) }]),
    );
  });
  function isFolded(group: Group, index: number): boolean {
    const byItself = foldsByItself(group, index === folds.groups.length - 1, hasFailed.value);
    return chosen.value.get(group.begin) ?? byItself;
  }
  /** Indexes of the lines that are shown; null: all. */
  const shown = useComputed(() => {
    void version.value;
    const folded = [...groups.value.values()].flatMap((one) => (one.isFolded ? one.group : []));
    return unfolded(store.lines, folded, errorsOnly.value ? isNoOutput : null);
  });
  const lineAt = (index: number) => shown.peek()?.[index] ?? index;
  const heights = useComputed(() => {
    void version.value;
    const count = shown.value?.length ?? store.lines.length;
    const width = columns.value;
    if (wrap.value === 'no' || width === 0) return evenHeights(count);
    return wrappedHeights(count, (index) => {
      const line = store.lines[lineAt(index)];
      return line ? rowsOf(line, width, SHOWN) : 1;
    });
  });

  function set(changes: Iterable<[number, boolean]>): void {
    chosen.value = new Map([...chosen.peek(), ...changes]);
  }

  /** Shows a line, whatever hides it. */
  function reveal(line: number): void {
    const hiding = [...groups.peek().values()].filter(
      ({ group, isFolded: isIt }) =>
        isIt && group.begin < line && (group.end ?? Number.POSITIVE_INFINITY) >= line,
    );
    if (hiding.length > 0) set(hiding.map(({ group }) => [group.begin, false]));
    if (store.lines[line]?.stream === 'stdout') errorsOnly.value = false;
    target.value = line;
  }

  return {
    times,
    wrap,
    errorsOnly,
    columns,
    target,
    groups,
    shown,
    heights,
    /** Of a row among those that are shown: the index of its line. */
    lineAt,
    fold: (begin: number, isIt: boolean) => set([[begin, isIt]]),
    foldAll: (isIt: boolean) => set([...groups.peek().keys()].map((begin) => [begin, isIt])),
    reveal,
  };
}

function isNoOutput({ stream }: Line): boolean {
  return stream !== 'stdout';
}
