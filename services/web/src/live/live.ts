// The page's connection. A machine that wakes, or a tab that is seen again, does not wait for the next retry.
import { effect } from '@preact/signals';
import { readSession } from '../api/session.ts';
import { session } from '../session.ts';
import { connect } from './connection.ts';

const url = new URL('/ws', location.href);
url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';

export const live = connect(url.href);

// A browser does not tell why a socket was refused: before each new try it is asked whether a token is wanted.
effect(() => {
  if (live.retryAt.value !== null) void readSession().catch(() => undefined);
});
// Whoever logs in again begins with a fresh page.
effect(() => {
  if (session.value.role === null) live.close();
});

addEventListener('online', () => live.wake());
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') live.wake();
});
