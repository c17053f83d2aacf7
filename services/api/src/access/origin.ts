// Which pages may talk to the api. A page from anywhere can send requests to this machine, or send them with the cookie
// of whoever looks at it; by DNS rebinding it does so even under a name of its own. Where no token is asked for, the
// names of this machine are all that keeps such a page out. Where one is, other names are fine: a page under a name of
// its own has neither the token nor the cookie, which belongs to the name that it was given under.
import { WfgError } from '@wfg/shared/contract/problem';
import { isLoopback } from '@wfg/shared/rules/loopback';

/** What is looked at of a request; `method` is UPGRADE for a WebSocket. */
export interface Sender {
  method: string;
  /** The header: the name the server was called by. */
  host: string;
  /** Of the page that sends it; undefined: no page. */
  origin: string | undefined;
}

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether it may change something, or be answered beyond what the browser keeps from foreign pages. */
export function mayChange({ method }: Sender): boolean {
  return !READING.has(method);
}

/**
 * A check that throws foreign_host for a name that is not this machine, unless `isGuarded`, and foreign_origin for what
 * could change something and comes from a page that is neither the host's own nor of a trusted origin.
 */
export function originCheck(trusted: readonly string[], isGuarded: () => boolean): (sender: Sender) => void {
  return (sender) => {
    const { host, origin } = sender;
    if (!isGuarded() && !isLoopback(URL.parse(`http://${host}`)?.hostname ?? '')) {
      throw new WfgError('foreign_host', `'${host}' is not this machine: use localhost or 127.0.0.1`);
    }
    if (!mayChange(sender) || origin === undefined || isOwn(origin, host) || trusted.includes(origin)) return;
    throw new WfgError('foreign_origin', `pages of ${origin} may not do this to ${host}: see CORS_ORIGINS`);
  };
}

/** Whether the page came from the very host that it talks to; which scheme a proxy was asked by, only the page knows. */
function isOwn(origin: string, host: string): boolean {
  const page = URL.parse(origin);
  return page !== null && page.host === URL.parse(`${page.protocol}//${host}`)?.host;
}
