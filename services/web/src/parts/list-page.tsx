// A page that lists things, newest first, a page at a time: its filters, and what it says where there is nothing.
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { type PageName, pathTo, query } from '../router.ts';
import { usePoll } from '../use-poll.ts';
import { clearFilters, type Filter, filtered, Filters, isFiltered } from './filters.tsx';
import { Notice } from './notice.tsx';
import { setTitle } from './title.ts';

export interface Listed<T> {
  items: readonly T[];
  next: string | null;
}

interface Props<T> {
  title: string;
  page: PageName;
  params?: Record<string, string>;
  /** Such as `runs`. */
  things: string;
  filters?: readonly Filter[];
  /** Beside the title. */
  actions?: ComponentChildren;
  /** `asked` is what the filters are set to. */
  load: (asked: Record<string, string>, cursor: string | null, signal: AbortSignal) => Promise<Listed<T>>;
  everyMs: number;
  /** What is known to be on the first page by now; null: what was loaded. */
  live?: readonly T[] | null;
  /** How the first of them is made. */
  empty: ComponentChildren;
  children: (items: readonly T[]) => ComponentChildren;
}

export function ListPage<T>({
  title,
  page,
  params = {},
  things,
  filters = [],
  actions,
  load,
  everyMs,
  live = null,
  empty,
  children,
}: Props<T>) {
  const cursor = query.value.get('cursor');
  const asked = filtered(filters);
  const { data, problem } = usePoll(
    JSON.stringify([cursor, asked]),
    (signal) => load(asked, cursor, signal),
    everyMs,
  );
  useEffect(() => setTitle(title), [title]);
  const loaded = data.value;
  const items = (cursor === null ? live : null) ?? loaded?.items;
  return (
    <>
      <header class="list-head">
        <h1>{title}</h1>
        <div class="actions">{actions}</div>
      </header>
      {filters.length > 0 && <Filters label={things} filters={filters} />}
      {problem.value && <Notice>{problem.value}</Notice>}
      {items === undefined && !problem.value && <p class="hint">Reading the {things}…</p>}
      {items?.length === 0 && (
        <div class="hint empty">
          {cursor !== null ? (
            <p>There are no older {things}.</p>
          ) : isFiltered(filters) ? (
            <p>
              No {things} match.{' '}
              <button type="button" class="button small" onClick={() => clearFilters(filters)}>
                Show all
              </button>
            </p>
          ) : (
            empty
          )}
        </div>
      )}
      {items !== undefined && items.length > 0 && children(items)}
      <nav class="pager" aria-label={`Pages of ${things}`}>
        {cursor !== null && <a href={pathTo(page, params, asked)}>Newest {things}</a>}
        {loaded?.next && <a href={pathTo(page, params, { ...asked, cursor: loaded.next })}>Older {things}</a>}
      </nav>
    </>
  );
}
