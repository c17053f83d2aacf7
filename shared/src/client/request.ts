// The HTTP request that a route makes of what a caller gives.
import type { Route } from '../contract/routes/route.ts';

type Texts = Readonly<Record<string, string | number | undefined>>;

/** What a caller gives, whatever the route. */
export interface Given {
  params?: Texts | undefined;
  query?: Texts | undefined;
  headers?: Texts | undefined;
  body?: unknown;
}

/** The request's address, headers and body. Paths are relative to `base`, which ends with a slash. */
export function requestOf(base: URL, route: Route, { params, query, headers, body }: Given): Request {
  const url = new URL(pathOf(route, params), base);
  url.search = new URLSearchParams(present(query)).toString();
  const { type, text } = bodyOf(route, body);
  return new Request(url, {
    method: route.method.toUpperCase(),
    headers: {
      accept: acceptOf(route),
      ...Object.fromEntries(present(headers)),
      ...(type === null ? {} : { 'content-type': type }),
    },
    body: text,
  });
}

function pathOf({ path }: Route, params: Texts = {}): string {
  return path.slice(1).replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(params[name] ?? '');
    // These would be another path.
    if (['', '.', '..'].includes(value)) throw new RangeError(`"${value}" cannot be the ${name} of ${path}`);
    return encodeURIComponent(value);
  });
}

/** A text is sent as such to a route that reads texts too. */
function bodyOf({ request }: Route, body: unknown): { type: string | null; text: string | null } {
  if (body === undefined) return { type: null, text: null };
  const types = Object.keys(request.body?.content ?? {});
  const textType = types.find((type) => type !== 'application/json');
  if (typeof body === 'string' && textType !== undefined) return { type: textType, text: body };
  return { type: 'application/json', text: JSON.stringify(body) };
}

/** JSON where there is a choice. */
function acceptOf({ responses }: Route): string {
  const types = Object.values(responses).flatMap(({ content = {} }) => Object.keys(content));
  return types.includes('application/json') ? 'application/json' : (types[0] ?? 'application/json');
}

function present(texts: Texts = {}): [string, string][] {
  return Object.entries(texts).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
}
