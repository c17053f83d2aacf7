// What a request shows: a token in its header, or a browser's session in its cookie. Only hashes of them go further.
import { hash } from 'node:crypto';
import { parse } from 'hono/utils/cookie';

export interface Credential {
  kind: 'token' | 'session';
  /** SHA-256. */
  hash: Buffer;
}

/** The headers that it is read from; `host` is the name the server was called by. */
export interface Shown {
  authorization: string | undefined;
  cookie: string | undefined;
  host: string;
}

/** A token goes before a session. What another scheme of the header says is for a proxy, and not for us. */
export function credentialOf({ authorization, cookie, host }: Shown): Credential | null {
  const token = /^bearer +(\S+)$/i.exec(authorization?.trim() ?? '')?.[1];
  if (token !== undefined) return { kind: 'token', hash: sha256(token) };
  const name = cookieName(host);
  const session = parse(cookie ?? '', name)[name];
  return session === undefined ? null : { kind: 'session', hash: sha256(session) };
}

/** Cookies know no ports: with one name for all, two servers on one machine would take each other's. */
export function cookieName(host: string): string {
  const port = URL.parse(`http://${host}`)?.port;
  return port ? `wfg_session_${port}` : 'wfg_session';
}

export function sha256(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
