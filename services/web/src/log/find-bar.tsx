// What is searched in a log, how often it is there, and the way from match to match.
import type { Signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Search } from './use-search.ts';

export function FindBar({ search, isOpen }: { search: Search; isOpen: Signal<boolean> }) {
  const field = useRef<HTMLInputElement>(null);
  // Before the next key, which is meant for it.
  useLayoutEffect(() => field.current?.select(), []);
  const wanted = search.wanted.value;
  const set = (changes: Partial<typeof wanted>) =>
    (search.wanted.value = { ...search.wanted.peek(), ...changes });

  function close(): void {
    set({ text: '' });
    isOpen.value = false;
  }

  return (
    <div class="find-bar" role="search">
      <input
        ref={field}
        class="field small"
        type="search"
        placeholder="Find in the log"
        aria-label="Find in the log"
        aria-invalid={search.problem.value !== null}
        value={wanted.text}
        onInput={(event) => set({ text: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === 'Enter') search.go(event.shiftKey ? -1 : 1);
          if (event.key === 'Escape') close();
        }}
      />
      <span class="find-count" role="status">
        {countText(search)}
      </span>
      <button type="button" class="button small" aria-label="Previous match" onClick={() => search.go(-1)}>
        ↑
      </button>
      <button type="button" class="button small" aria-label="Next match" onClick={() => search.go(1)}>
        ↓
      </button>
      <button
        type="button"
        class="button small"
        aria-pressed={wanted.isCase}
        aria-label="Match case"
        title="Match case"
        onClick={() => set({ isCase: !wanted.isCase })}
      >
        Aa
      </button>
      <button
        type="button"
        class="button small"
        aria-pressed={wanted.isRegex}
        aria-label="Regular expression"
        title="Regular expression"
        onClick={() => set({ isRegex: !wanted.isRegex })}
      >
        .*
      </button>
      <button type="button" class="button small" aria-label="Close the search" onClick={close}>
        ✕
      </button>
    </div>
  );
}

function countText({ wanted, problem, found, at }: Search): string {
  if (problem.value !== null) return problem.value;
  if (wanted.value.text === '') return '';
  const count = found.value.length;
  if (count === 0) return 'no line';
  const all = `${count.toLocaleString()} ${count === 1 ? 'line' : 'lines'}`;
  return at.value < 0 ? all : `${(at.value + 1).toLocaleString()} of ${all}`;
}
