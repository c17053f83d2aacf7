// The page's connection. A machine that wakes, or a tab that is seen again, does not wait for the next retry.
import { connect } from './connection.ts';

const url = new URL('/ws', location.href);
url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';

export const live = connect(url.href);

addEventListener('online', () => live.wake());
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') live.wake();
});
