// The frame around every page: header, the page that the address means, and what is said to screen readers.
import { useEffect, useRef } from 'preact/hooks';
import { LoginPage } from './pages/login.tsx';
import { NotFoundPage } from './pages/not-found.tsx';
import { PAGES } from './pages/pages.ts';
import { Announcer } from './parts/announcer.tsx';
import { ConnectionState } from './parts/connection-state.tsx';
import { Help } from './parts/help.tsx';
import { Logout } from './parts/logout.tsx';
import { Navigation } from './parts/navigation.tsx';
import { ThemeChoice } from './parts/theme-choice.tsx';
import { query, type Route, route } from './router.ts';
import { session } from './session.ts';

export function App() {
  const current = route.value;
  const main = useRef<HTMLElement>(null);
  const place = placeOf(current);
  const part = `${place} ${query.value.get('cursor') ?? ''}`;
  const before = useRef(part);
  useEffect(() => {
    if (before.current === part) return;
    before.current = part;
    scrollTo(0, 0);
    // Keyboard and screen reader begin at the new page, as after a full load.
    main.current?.focus({ preventScroll: true });
  }, [part]);
  if (session.value.role === null) return <LoginPage ended />;
  const Page = (current.page !== 'not-found' && PAGES[current.page]) || NotFoundPage;
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href="/">
          wfg
        </a>
        <Navigation route={current} />
        <ConnectionState />
        <ThemeChoice />
        <Help />
        <Logout />
      </header>
      <main id="main" tabIndex={-1} ref={main}>
        <Page key={place} params={current.params} />
      </main>
      <Announcer />
    </>
  );
}

/** What counts as another place: not another job of the same run. */
function placeOf({ page, params }: Route): string {
  return page === 'job' ? `run ${params.run}` : [page, ...Object.values(params)].join(' ');
}
