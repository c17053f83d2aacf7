// Calls about who the reader is.
import type * as sessions from '@wfg/shared/contract/routes/session';
import { session } from '../session.ts';
import { call } from './call.ts';

/** Asks what the reader may do. */
export async function readSession(): Promise<void> {
  session.value = (await call<typeof sessions.getSession>('get', '/api/session', {})).body;
}

/** Begins a session, which the browser keeps by itself. */
export async function login(token: string): Promise<void> {
  await call<typeof sessions.login>('post', '/api/session', { body: { token } });
}

/** Ends the session. */
export async function logout(): Promise<void> {
  await call<typeof sessions.logout>('delete', '/api/session', {});
}
