// The links to the pages; where there is no room for all, behind a button.
import type { Route } from '../router.ts';
import { pathTo } from '../router.ts';
import { NAVIGATION } from '../pages/pages.ts';

export function Navigation({ route: { page } }: { route: Route }) {
  const links = NAVIGATION.map(({ label, page: to, about }) => (
    <a key={to} href={pathTo(to)} aria-current={about.some((one) => one === page) ? 'page' : undefined}>
      {label}
    </a>
  ));
  return (
    <>
      <nav class="nav-row" aria-label="Main">
        {links}
      </nav>
      <div class="nav-menu">
        <button type="button" class="button small" popoverTarget="nav-menu">
          Menu
        </button>
        <nav
          id="nav-menu"
          popover="auto"
          aria-label="Main"
          onClick={(event) => event.currentTarget.hidePopover()}
        >
          {links}
        </nav>
      </div>
    </>
  );
}
