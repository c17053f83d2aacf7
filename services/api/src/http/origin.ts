// Who may talk to an api that asks nobody for a token: programs on this machine, and pages that it served itself.
// A page from elsewhere can send requests to loopback as well, and by DNS rebinding even under a name of its own.
import { WfgError } from '@wfg/shared/contract/problem';
import type { MiddlewareHandler } from 'hono';

/** Whether a page of this origin may send requests to this Host. */
export type OriginPolicy = (origin: string, host: string) => boolean;

/** Allows pages that come from the very host they talk to, which is this machine, and those of `trusted` origins. */
export function originPolicy(trusted: readonly string[]): OriginPolicy {
  return (origin, host) => {
    if (trusted.includes(origin)) return true;
    return isLocal(host) && URL.parse(origin)?.host === URL.parse(`http://${host}`)?.host;
  };
}

/** Whether a Host header names this machine. */
export function isLocal(host: string): boolean {
  return isLoopback(URL.parse(`http://${host}`)?.hostname ?? '');
}

/** Whether the name or address (IPv6 in brackets or not) is this machine's loopback. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase();
  return /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)$/.test(name);
}

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Refuses foreign hosts, and requests of foreign pages that could change something, with 403. */
export function checkOrigin(allowsOrigin: OriginPolicy): MiddlewareHandler {
  return async (c, next) => {
    const host = c.req.header('host') ?? '';
    if (!isLocal(host)) {
      throw new WfgError('foreign_host', `'${host}' is not this machine: use localhost or 127.0.0.1`);
    }
    const origin = c.req.header('origin');
    if (!READING.has(c.req.method) && origin !== undefined && !allowsOrigin(origin, host)) {
      throw new WfgError('foreign_origin', `pages of ${origin} may not do this: see CORS_ORIGINS`);
    }
    await next();
  };
}
