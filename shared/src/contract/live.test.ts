// Which part of a frame a client is told to mend.
import { expect, test } from 'vitest';
import { ClientFrame } from './live.ts';

test.each([
  [{ op: 'follow', id: 'a' }, ['op']],
  [{}, ['op']],
  [{ op: 'subscribe', id: 'a', topic: 'lots' }, ['topic']],
  [{ op: 'resync' }, ['id']],
])('%j is refused for its %j', (frame, path) => {
  expect(ClientFrame.safeParse(frame).error?.issues.map((issue) => issue.path)).toEqual([path]);
});
