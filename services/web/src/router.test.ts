import { expect, test } from 'vitest';
import { pathTo, routeOf, runPath } from './router.ts';

const RUN = '0197a1b2-0000-7000-8000-000000000001';

test.each([
  ['/', 'runs', {}],
  ['/definitions', 'workflows', {}],
  ['/definitions/build.all', 'workflow', { workflow: 'build.all' }],
  ['/dead', 'dead', {}],
  [`/runs/${RUN}`, 'run', { run: RUN }],
  [`/runs/${RUN}/jobs/unit.tests-1`, 'job', { run: RUN, job: 'unit.tests-1' }],
])('%s is a page', (path, page, params) => {
  expect(routeOf(path)).toEqual({ page, params });
});

test('a path made for a run or job leads back to it', () => {
  expect(routeOf(runPath(RUN))).toEqual({ page: 'run', params: { run: RUN } });
  expect(routeOf(runPath(RUN, 'a b/c'))).toEqual({ page: 'job', params: { run: RUN, job: 'a b/c' } });
});

test('a path carries what is asked for, and nothing that is not', () => {
  expect(pathTo('runs', {}, { status: 'failed', label: '', cursor: null })).toBe('/?status=failed');
  expect(pathTo('runs')).toBe('/');
});

test.each([
  '/runs',
  '/runs/',
  `/runs/${RUN}/jobs`,
  `/runs/${RUN}/jobs/a/b`,
  '/definitions/',
  '/nothing',
  '/%E0%A4%A',
])('%s is no page', (path) => {
  expect(routeOf(path).page).toBe('not-found');
});
