import { expect, test } from 'vitest';
import { defineWorkflow } from './definition.ts';
import { type LatestState, toWorkflowView } from './graph-view.ts';

const definition = defineWorkflow({
  name: 'w',
  on: 'push',
  jobs: {
    a: { run: 'make' },
    b: { steps: [{ run: 'one' }, { name: 'Second', run: 'two' }], retries: 2, needs: 'a' },
    c: { uses: 'user.created', with: { id: 1 } },
  },
});
const state: LatestState = {
  state: 'active',
  attempt: 1,
  started_ms: 1_000,
  finished_ms: null,
  error: 'earlier',
};
const view = (a: LatestState) => toWorkflowView('w', definition, new Map([['a', a]])).jobs;

test('a job without a row in the latest run is queued', () => {
  expect(view(state)[1]).toMatchObject({
    id: 'b',
    status: 'queued',
    attempt: 0,
    started_at: null,
    max_retries: 2,
  });
});

test('steps are told one after another, and a handler by its type', () => {
  expect(view(state).map((job) => job.command)).toEqual([
    'make',
    '# step 1\none\n# Second\ntwo',
    'uses: user.created',
  ]);
});

test('output is the error of a failure, and only success and failure have a duration', () => {
  expect(view(state)[0]).toMatchObject({
    status: 'running',
    output: null,
    duration_secs: null,
    started_at: 1_000,
  });
  const ended = { ...state, finished_ms: 3_999 };
  expect(view({ ...ended, state: 'failed' })[0]).toMatchObject({
    status: 'failure',
    output: 'earlier',
    duration_secs: 2,
  });
  expect(view({ ...ended, state: 'completed' })[0]).toMatchObject({
    status: 'success',
    output: null,
    duration_secs: 2,
  });
  expect(view({ ...ended, state: 'cancelled' })[0]).toMatchObject({
    status: 'cancelled',
    duration_secs: null,
  });
});
