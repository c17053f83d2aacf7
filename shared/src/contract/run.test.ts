import { expect, test } from 'vitest';
import { ClientFrame } from './live.ts';
import { RunId } from './run.ts';

const ID = '0198c5a4-7b1e-7c3d-9a50-3f2b8d6c1e70';

test('an id of a run is read as bells name it, however it was written', () => {
  expect(RunId.parse(ID.toUpperCase())).toBe(ID);
  const frame = { op: 'subscribe', id: 'One', topic: 'logs', run: ID.toUpperCase(), job: 'Build' };
  expect(ClientFrame.parse(frame)).toEqual({ ...frame, run: ID });
});
