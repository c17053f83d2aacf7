// Makes a route of the contract one that hono serves.
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Route } from '@wfg/shared/contract/routes/route';

/**
 * Puts the route into the document; what it returns is for `app.openapi`. Hono checks ids, parameters and headers. A
 * body it would read whole, whatever its size: that is left to the handler.
 */
export function bind<R extends Route>(app: OpenAPIHono, route: R) {
  app.openAPIRegistry.registerPath(route);
  const { request: _request, ...rest } = route;
  const request: R['request'] = route.request;
  const { body: _body, ...checked } = request;
  return { ...rest, request: checked, hide: true };
}
