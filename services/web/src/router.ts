// Where the reader is, as signals over the browser's history, and the pages that a path can mean.
import { computed, signal } from '@preact/signals';

/** The paths of the pages; what begins with a colon is a parameter. */
const PATHS = [
  ['runs', '/'],
  ['run', '/runs/:run'],
  ['job', '/runs/:run/jobs/:job'],
  ['workflows', '/definitions'],
  ['workflow', '/definitions/:workflow'],
  ['events', '/events'],
  ['tasks', '/tasks'],
  ['dead', '/dead'],
  ['schedules', '/schedules'],
  ['workers', '/workers'],
  ['queues', '/queues'],
] as const;

export type PageName = (typeof PATHS)[number][0];

export interface Route {
  page: PageName | 'not-found';
  /** What stands in the path for its parameters. */
  params: Record<string, string>;
}

/** Paths that the server answers itself: following a link to one leaves the client. */
const SERVER_PATHS = /^\/(api|workflows|docs|openapi\.json|metrics|health|ready)(\/|$)/;

/** The page that a path stands for. */
export function routeOf(path: string): Route {
  const parts = path.split('/').slice(1).map(decode);
  for (const [page, pattern] of PATHS) {
    const params = match(pattern.split('/').slice(1), parts);
    if (params) return { page, params };
  }
  return { page: 'not-found', params: {} };
}

function match(pattern: string[], parts: string[]): Record<string, string> | null {
  if (pattern.length !== parts.length) return null;
  const params: Record<string, string> = {};
  for (const [i, part] of parts.entries()) {
    const wanted = pattern[i] ?? '';
    if (wanted.startsWith(':') && part !== '') params[wanted.slice(1)] = part;
    else if (wanted !== part) return null;
  }
  return params;
}

/** The path of a page; parameters and query as given, without what is null or empty. */
export function pathTo(
  page: PageName,
  params: Record<string, string> = {},
  query: Record<string, string | null | undefined> = {},
): string {
  const pattern = PATHS.find(([name]) => name === page)?.[1] ?? '/';
  const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
  return search.size === 0 ? path : `${path}?${search}`;
}

/** The path of a run, or of one of its jobs. */
export function runPath(run: string, job?: string): string {
  return job === undefined ? pathTo('run', { run }) : pathTo('job', { run, job });
}

/** The path of a job on the page of its run, in the view of it that is open. */
export function jobPath(run: string, job: string): string {
  return pathTo('job', { run, job }, { tab: query.value.get('tab') });
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const address = signal({ path: '/', query: '', hash: '' });

/** The page to show now. */
export const route = computed(() => routeOf(address.value.path));
/** What the address asks of the page: filters, the place in a list, the view. */
export const query = computed(() => new URLSearchParams(address.value.query));
/** What is pointed at in the page, without the `#`. */
export const hash = computed(() => address.value.hash.slice(1));

function read(): void {
  address.value = { path: location.pathname, query: location.search, hash: location.hash };
}

/** Goes to a path of this client; `replace` leaves no step to go back to. */
export function navigate(to: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') history.pushState(null, '', to);
  else history.replaceState(null, '', to);
  read();
}

/** Changes some of what the address asks of this page; null or empty takes it out. */
export function setQuery(changes: Record<string, string | null>, how: 'push' | 'replace' = 'push'): void {
  const next = new URLSearchParams(query.peek());
  for (const [name, value] of Object.entries(changes))
    if (value) next.set(name, value);
    else next.delete(name);
  navigate(`${location.pathname}${next.size === 0 ? '' : `?${next}`}${location.hash}`, how);
}

/** Reads the address and keeps following it: back, forward, and every plain click on a link of this client. */
export function startRouter(): void {
  read();
  addEventListener('popstate', read);
  addEventListener('hashchange', read);
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (link.hash && link.pathname === location.pathname && link.search === location.search) return;
    if (SERVER_PATHS.test(link.pathname)) return;
    event.preventDefault();
    navigate(link.pathname + link.search + link.hash);
  });
}
