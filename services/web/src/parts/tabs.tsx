// Views of one thing: links, so that each has an address.
import { pathTo, query, route } from '../router.ts';

interface Props<T extends string> {
  label: string;
  tabs: readonly (readonly [name: T, label: string])[];
  chosen: T;
}

export function Tabs<T extends string>({ label, tabs, chosen }: Props<T>) {
  const { page, params } = route.value;
  if (page === 'not-found') return null;
  const rest = Object.fromEntries(query.value);
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(([name, text]) => (
        <a
          key={name}
          href={pathTo(page, params, { ...rest, tab: name })}
          aria-current={name === chosen ? 'page' : undefined}
        >
          {text}
        </a>
      ))}
    </nav>
  );
}
