// What the reader may do here, as the server said last.
import { signal } from '@preact/signals';
import type { Session } from '@wfg/shared/contract/session';

/** Until the server has said anything the page tries what it can. */
export const session = signal<Session>({ required: false, role: 'admin' });

/** The server wants a token: the session has ended, or there was none. */
export function lockOut(): void {
  session.value = { required: true, role: null };
}
