import type { Job } from '@wfg/shared/contract/job';
import { expect, test } from 'vitest';
import { pickJob } from './pick-job.ts';
import { jobOf } from './run.fixture.ts';

const jobs = (...states: Job['state'][]) => states.map((state, i) => jobOf({ job_id: `j${i}`, state }));

test.each([
  ['the first, when nothing runs', jobs('pending', 'blocked'), null, 'j0'],
  ['a running one', jobs('completed', 'active', 'active'), null, 'j1'],
  ['a failed one before a running one', jobs('active', 'completed', 'failed'), null, 'j2'],
  ['the shown one while it runs, whatever fails', jobs('failed', 'active'), 'j1', 'j1'],
  ['the shown one when it has failed', jobs('failed', 'failed', 'active'), 'j1', 'j1'],
  ['the next running one once the shown one went well', jobs('completed', 'active'), 'j0', 'j1'],
  ['the last one shown when all went well', jobs('completed', 'completed'), 'j1', 'j1'],
])('%s', (_name, list, shown, picked) => {
  expect(pickJob(list, shown)).toBe(picked);
});

test('nothing of nothing', () => {
  expect(pickJob([], null)).toBeNull();
});
