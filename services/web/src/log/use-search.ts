// A search over all lines of a log, in slices that leave the page alive; what is printed meanwhile is searched too.
import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { messageOf } from '../api/call.ts';
import { findLines, type Matcher, matcherOf, type Wanted } from './search.ts';
import type { LogStore } from './store.ts';

/** Of a slice, in milliseconds. */
const SLICE_MS = 8;

export type Search = ReturnType<typeof useSearch>;

/** `reveal` is called with the index of a line to be seen. */
export function useSearch(store: LogStore, version: ReadonlySignal<number>, reveal: (line: number) => void) {
  const wanted = useSignal<Wanted>({ text: '', isRegex: false, isCase: false });
  /** Indexes of the lines that match, as far as has been searched. */
  const found = useSignal<readonly number[]>([]);
  /** Which of them is shown; -1: none yet. */
  const at = useSignal(-1);
  /** `wish`: to go to a match once there is one. */
  const progress = useRef<{ next: number; timer: number; wish: 1 | -1 | null }>({
    next: 0,
    timer: 0,
    wish: null,
  });
  /** What is being searched. */
  const begun = useRef<Matcher | null>(null);
  const compiled = useComputed<{ matcher: Matcher | null; problem: string | null }>(() => {
    try {
      return { matcher: matcherOf(wanted.value), problem: null };
    } catch (error) {
      return { matcher: null, problem: messageOf(error).replace(/^Invalid regular expression: /, '') };
    }
  });

  function pump(): void {
    const { matcher } = compiled.peek();
    const state = progress.current;
    state.timer = 0;
    if (matcher === null) return;
    const until = performance.now() + SLICE_MS;
    const part = findLines(store.lines, matcher, state.next, () => performance.now() > until);
    state.next = part.next;
    if (part.found.length > 0) found.value = [...found.peek(), ...part.found];
    if (state.wish !== null) go(state.wish);
    if (state.next < store.lines.length) state.timer = window.setTimeout(pump);
  }

  /** Effects come a frame late: whoever goes to a match before that begins the new search. */
  function begin(): void {
    const { matcher } = compiled.peek();
    if (begun.current === matcher) return;
    begun.current = matcher;
    progress.current.next = 0;
    progress.current.wish = null;
    found.value = [];
    at.value = -1;
  }
  useSignalEffect(() => {
    void compiled.value;
    begin();
  });
  useSignalEffect(() => {
    void [compiled.value, version.value];
    if (progress.current.timer === 0) progress.current.timer = window.setTimeout(pump);
  });
  useEffect(() => () => clearTimeout(progress.current.timer), []);

  /** To the next match, or the one before, around the ends; to the first that is found, where none is known yet. */
  function go(step: 1 | -1): void {
    begin();
    const all = found.peek();
    progress.current.wish = all.length === 0 ? step : null;
    if (all.length === 0) return;
    at.value = at.peek() < 0 && step < 0 ? all.length - 1 : (at.peek() + step + all.length) % all.length;
    reveal(all[at.peek()] ?? 0);
  }

  return {
    wanted,
    found,
    at,
    matcher: useComputed(() => compiled.value.matcher),
    /** What is wrong with the regular expression. */
    problem: useComputed(() => compiled.value.problem),
    go,
  };
}
