// An api that is asked to stop: whoever comes while it waits for others is told to try again, and not that nothing is there.
import { expect, test } from 'vitest';
import { startApi } from '../../support/api.ts';
import { testDatabase } from '../../support/postgres.ts';
import { dial, handshake } from '../../support/socket.ts';

test('a WebSocket is refused for now by an api that stops', async () => {
  await using db = await testDatabase();
  await using api = await startApi(db.url);
  const slow = dial(api.url);
  expect(await handshake(slow)).toBe(101);
  // It is waited for, as it does not read that it is sent away.
  slow.pause();
  api.signal('SIGTERM');
  const answers = new Set<number | undefined>();
  const refused = new AbortController();
  while (!refused.signal.aborted)
    await handshake(dial(api.url)).then(
      (status) => answers.add(status),
      () => refused.abort(),
    );
  slow.terminate();
  answers.delete(101);
  expect([...answers]).toEqual([503]);
  expect(await api.ended).toEqual({ code: 0, signal: null });
});
