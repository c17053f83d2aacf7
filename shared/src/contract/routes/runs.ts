// Runs, standalone jobs among them: list, start one from a workflow in the body or from the jobs of another, show, cancel.
import { z } from 'zod';
import { KeyHeader } from '../key.ts';
import { pageOf } from '../page.ts';
import { Run, RunSummary } from '../run.ts';
import { MOST_RUNS_LISTED, runFilter } from '../run-filter.ts';
import { Id } from '../workflow.ts';
import { count, RunCursor, RunPath } from './parameters.ts';
import { answer, json, type Route } from './route.ts';
import { workflowBody } from './workflow-body.ts';

/** What every list of runs can be narrowed by. */
export const RunListQuery = z.strictObject({
  ...runFilter,
  limit: count(1, MOST_RUNS_LISTED).optional(),
  cursor: RunCursor.optional(),
});
export type RunListQuery = z.output<typeof RunListQuery>;

export const RunPage = pageOf(RunSummary).meta({ id: 'RunPage' });
export type RunPage = z.infer<typeof RunPage>;

export const listRuns = {
  method: 'get',
  path: '/api/runs',
  summary:
    'Runs without their jobs, newest first; large payloads and rare labels or types make short, even empty, pages: go on to next',
  request: { query: RunListQuery.extend({ workflow_id: Id.optional() }) },
  responses: { 200: answer(RunPage, 'a page of runs') },
} satisfies Route;

export const submitRun = {
  method: 'post',
  path: '/api/runs',
  summary: 'Start a run of the workflow in the body, which is not stored',
  request: { headers: KeyHeader, body: workflowBody },
  responses: { 201: answer(Run, 'the run') },
} satisfies Route;

export const getRun = {
  method: 'get',
  path: '/api/runs/{run}',
  summary: 'A run with its jobs',
  request: { params: RunPath },
  responses: { 200: answer(Run, 'the run') },
} satisfies Route;

const CancelRun = z
  .strictObject({
    force: z
      .boolean()
      .optional()
      .meta({ description: 'also stops jobs whose `if` calls always() or cancelled()' }),
  })
  .meta({ id: 'CancelRun' });

export const cancelRun = {
  method: 'post',
  path: '/api/runs/{run}/cancel',
  summary: 'Cancel a run: what waits ends at once, what runs is asked to stop',
  request: { params: RunPath, body: json(CancelRun) },
  responses: { 202: { description: 'asked for' } },
} satisfies Route;

const Rerun = z
  .strictObject({
    from: z
      .union([z.literal('failed'), Id])
      .optional()
      .meta({
        description:
          '`failed`: what failed or was cancelled, and all below it; the id of a job: it, and all below it; absent: every job',
      }),
  })
  .meta({ id: 'Rerun' });

export const rerun = {
  method: 'post',
  path: '/api/runs/{run}/rerun',
  summary:
    "Start a new run of an ended run's own jobs; what is not run again is taken over with its outputs, and says so",
  request: { params: RunPath, headers: KeyHeader, body: json(Rerun) },
  responses: { 201: answer(Run, 'the new run') },
} satisfies Route;
