// Which paths are the api's, and which the browser client's.
import type { Context } from 'hono';
import { matchedRoutes } from 'hono/route';

/** Whether a path asks the database for something; FlowForge's routes have no `/api` before them. */
export function isApiPath(path: string): boolean {
  return /^\/(?:api|workflows|metrics)(?:\/|$)/.test(path);
}

/** Whether one of the api's routes answers it, rather than a file of the page or nothing. */
export function hasRoute(c: Context): boolean {
  return matchedRoutes(c).some(({ path }) => !path.includes('*'));
}

/** A path of the contract as hono has it. */
export function routingPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
