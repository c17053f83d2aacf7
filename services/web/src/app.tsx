// The frame around every page: header, the page that the address means, and what is said to screen readers.
import { useEffect, useRef } from 'preact/hooks';
import { LoginPage } from './pages/login.tsx';
import { NotFoundPage } from './pages/not-found.tsx';
import { RunPage } from './pages/run.tsx';
import { RunsPage } from './pages/runs.tsx';
import { WorkflowsPage } from './pages/workflows.tsx';
import { Announcer } from './parts/announcer.tsx';
import { ConnectionState } from './parts/connection-state.tsx';
import { Logout } from './parts/logout.tsx';
import { type Route, route } from './router.ts';
import { session } from './session.ts';

export function App() {
  const current = route.value;
  const main = useRef<HTMLElement>(null);
  const place = placeOf(current);
  const before = useRef(place);
  useEffect(() => {
    if (before.current === place) return;
    before.current = place;
    scrollTo(0, 0);
    // Keyboard and screen reader begin at the new page, as after a full load.
    main.current?.focus({ preventScroll: true });
  }, [place]);
  if (session.value.role === null) return <LoginPage ended />;
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href="/">
          wfg
        </a>
        <nav aria-label="Main">
          <NavLink href="/" label="Runs" here={current.page === 'runs'} />
          <NavLink href="/definitions" label="Workflows" here={current.page === 'workflows'} />
        </nav>
        <ConnectionState />
        <Logout />
      </header>
      <main id="main" tabIndex={-1} ref={main}>
        <Page route={current} />
      </main>
      <Announcer />
    </>
  );
}

/** What counts as another place: not another job of the same run. */
function placeOf(at: Route): string {
  if (at.page === 'run') return `run ${at.run}`;
  return 'cursor' in at ? `${at.page} ${at.cursor}` : at.page;
}

function Page({ route: at }: { route: Route }) {
  switch (at.page) {
    case 'runs':
      return <RunsPage cursor={at.cursor} />;
    case 'run':
      return <RunPage key={at.run} id={at.run} job={at.job} />;
    case 'workflows':
      return <WorkflowsPage cursor={at.cursor} />;
    default:
      return <NotFoundPage />;
  }
}

function NavLink({ href, label, here }: { href: string; label: string; here: boolean }) {
  return (
    <a href={href} aria-current={here ? 'page' : undefined}>
      {label}
    </a>
  );
}
