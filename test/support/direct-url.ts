// Past what the tests put before their server.
import { inject } from 'vitest';

/** The URL of a test's database, on the server itself; any other URL as it is. */
export function directUrl(url: string): string {
  const { url: common, server } = inject('databases');
  const direct = new URL(url);
  if (direct.host === new URL(common).host) direct.host = new URL(server).host;
  return direct.href;
}
