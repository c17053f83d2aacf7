import { expect, test } from 'vitest';
import { routeOf, runPath } from './router.ts';

const RUN = '0197a1b2-0000-7000-8000-000000000001';

test('every page has a path', () => {
  expect(routeOf('/', '')).toEqual({ page: 'runs', cursor: null });
  expect(routeOf('/', '?cursor=abc')).toEqual({ page: 'runs', cursor: 'abc' });
  expect(routeOf('/definitions', '')).toEqual({ page: 'workflows', cursor: null });
  expect(routeOf('/definitions', '?cursor=abc')).toEqual({ page: 'workflows', cursor: 'abc' });
  expect(routeOf(`/runs/${RUN}`, '')).toEqual({ page: 'run', run: RUN, job: null });
  expect(routeOf(`/runs/${RUN}/jobs/unit.tests-1`, '')).toEqual({
    page: 'run',
    run: RUN,
    job: 'unit.tests-1',
  });
});

test('a path made for a run or job leads back to it', () => {
  expect(routeOf(runPath(RUN), '')).toEqual({ page: 'run', run: RUN, job: null });
  expect(routeOf(runPath(RUN, 'a b/c'), '')).toEqual({ page: 'run', run: RUN, job: 'a b/c' });
});

test.each([
  '/runs',
  '/runs/',
  `/runs/${RUN}/jobs`,
  `/runs/${RUN}/jobs/a/b`,
  '/definitions/x',
  '/nothing',
  '/%E0%A4%A',
])('%s is no page', (path) => {
  expect(routeOf(path, '')).toEqual({ page: 'not-found' });
});
