// What narrows a list, kept in the address: reloading, and going back, show the same.
import { useRef } from 'preact/hooks';
import { useKeys } from '../keys.ts';
import { query, setQuery } from '../router.ts';

/** While more is typed nothing is asked. */
const TYPING_MS = 300;

export interface Filter {
  /** In the address. */
  name: string;
  label: string;
  /** Those to choose from, with their words; without them it is text. */
  options?: readonly (readonly [value: string, word: string])[];
  /** What it says when it is not set. */
  any?: string;
  type?: 'datetime-local';
}

interface Props {
  /** Of what is listed, for screen readers. */
  label: string;
  filters: readonly Filter[];
}

/** Whether any of them is set. */
export function isFiltered(filters: readonly Filter[]): boolean {
  return filters.some(({ name }) => query.value.has(name));
}

/** What they are set to, as the address has it. */
export function filtered(filters: readonly Filter[]): Record<string, string> {
  return Object.fromEntries(
    filters.flatMap(({ name }) => {
      const value = query.value.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

export function clearFilters(filters: readonly Filter[]): void {
  setQuery(Object.fromEntries([...filters.map(({ name }) => [name, null] as const), ['cursor', null]]));
}

export function Filters({ label, filters }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const timer = useRef(0);
  useKeys('List', [
    {
      key: '/',
      does: 'To the filters',
      press: () => form.current?.querySelector<HTMLElement>('input, select')?.focus(),
    },
  ]);

  function set(name: string, value: string, after: number): void {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setQuery({ [name]: value, cursor: null }, 'replace'), after);
  }

  return (
    <form
      class="filters"
      role="search"
      aria-label={`Filter ${label}`}
      ref={form}
      onSubmit={(event) => event.preventDefault()}
    >
      {filters.map((filter) => (
        <label key={filter.name}>
          <span>{filter.label}</span>
          <Field filter={filter} value={query.value.get(filter.name) ?? ''} onSet={set} />
        </label>
      ))}
      {isFiltered(filters) && (
        <button type="button" class="button small" onClick={() => clearFilters(filters)}>
          Clear
        </button>
      )}
    </form>
  );
}

interface FieldProps {
  filter: Filter;
  value: string;
  onSet: (name: string, value: string, after: number) => void;
}

function Field({ filter: { name, options, any = 'Any', type }, value, onSet }: FieldProps) {
  if (options) {
    return (
      <select
        class="field small"
        value={value}
        onChange={(event) => onSet(name, event.currentTarget.value, 0)}
      >
        <option value="">{any}</option>
        {options.map(([option, word]) => (
          <option key={option} value={option}>
            {word}
          </option>
        ))}
      </select>
    );
  }
  if (type === 'datetime-local') {
    return (
      <input
        class="field small"
        type="datetime-local"
        value={value}
        onInput={(event) => onSet(name, event.currentTarget.value, 0)}
      />
    );
  }
  return (
    <input
      class="field small"
      type="search"
      value={value}
      onInput={(event) => onSet(name, event.currentTarget.value, TYPING_MS)}
    />
  );
}
