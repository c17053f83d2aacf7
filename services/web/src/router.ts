// Where the reader is, as a signal over the browser's history, and the pages that a path can mean.
import { computed, signal } from '@preact/signals';

export type Route =
  | { page: 'runs'; cursor: string | null }
  | { page: 'run'; run: string; job: string | null }
  | { page: 'workflows'; cursor: string | null }
  | { page: 'not-found' };

/** Paths that the server answers itself: following a link to one leaves the client. */
const SERVER_PATHS = /^\/(api|workflows|docs|openapi\.json|metrics|health|ready)(\/|$)/;

/** The page that a path and query stand for. */
export function routeOf(path: string, query: string): Route {
  const [first, id, second, job, ...rest] = path.split('/').slice(1).map(decode);
  if (rest.length === 0) {
    const cursor = new URLSearchParams(query).get('cursor');
    if (first === '' && id === undefined) return { page: 'runs', cursor };
    if (first === 'definitions' && id === undefined) return { page: 'workflows', cursor };
    if (first === 'runs' && id && second === undefined) return { page: 'run', run: id, job: null };
    if (first === 'runs' && id && second === 'jobs' && job) return { page: 'run', run: id, job };
  }
  return { page: 'not-found' };
}

/** The path of a run, or of one of its jobs. */
export function runPath(run: string, job?: string): string {
  const path = `/runs/${encodeURIComponent(run)}`;
  return job === undefined ? path : `${path}/jobs/${encodeURIComponent(job)}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const address = signal({ path: '/', query: '' });

/** The page to show now. */
export const route = computed(() => routeOf(address.value.path, address.value.query));

function read(): void {
  address.value = { path: location.pathname, query: location.search };
}

/** Goes to a path of this client; `replace` leaves no step to go back to. */
export function navigate(to: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') history.pushState(null, '', to);
  else history.replaceState(null, '', to);
  read();
}

/** Reads the address and keeps following it: back, forward, and every plain click on a link of this client. */
export function startRouter(): void {
  read();
  addEventListener('popstate', read);
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (link.hash && link.pathname === location.pathname && link.search === location.search) return;
    if (SERVER_PATHS.test(link.pathname)) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}
