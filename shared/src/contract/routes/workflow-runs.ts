// What a stored workflow runs: start, cancel, its runs, the logs of its latest one.
import { z } from 'zod';
import { KeyHeader } from '../key.ts';
import { Env } from '../workflow.ts';
import { LOG, LOG_STREAM, LogQuery, LogStreamHeaders, LogStreamQuery, RAW_LOG, RawLogQuery } from './logs.ts';
import { WorkflowJobPath, WorkflowPath } from './parameters.ts';
import { answer, json, type Route } from './route.ts';
import { RunListQuery, RunPage } from './runs.ts';

const StartRun = z.strictObject({ env: Env.optional() }).meta({ id: 'StartRun' });

export const startRun = {
  method: 'post',
  path: '/api/workflows/{id}/run',
  summary: 'Start a run; while one goes on it is answered instead, unless it is being cancelled',
  request: { params: WorkflowPath, headers: KeyHeader, body: json(StartRun) },
  responses: { 202: answer(z.object({ run_id: z.uuid() }), 'the run') },
} satisfies Route;

export const cancelRuns = {
  method: 'post',
  path: '/api/workflows/{id}/cancel',
  summary: 'Cancel all runs of the workflow that go on',
  request: { params: WorkflowPath },
  responses: { 202: { description: 'asked for' } },
} satisfies Route;

export const listWorkflowRuns = {
  method: 'get',
  path: '/api/workflows/{id}/runs',
  summary: 'Runs of the workflow without their jobs, newest first',
  request: { params: WorkflowPath, query: RunListQuery },
  responses: { 200: answer(RunPage, 'a page of runs') },
} satisfies Route;

export const getLatestLog = {
  method: 'get',
  path: '/api/workflows/{id}/jobs/{job}/logs',
  summary: "A job's output in the latest run",
  request: { params: WorkflowJobPath, query: LogQuery },
  responses: LOG,
} satisfies Route;

export const getLatestRawLog = {
  method: 'get',
  path: '/api/workflows/{id}/jobs/{job}/logs/raw',
  summary: 'What one attempt of a job printed in the latest run, as text; the latest unless one is named',
  request: { params: WorkflowJobPath, query: RawLogQuery },
  responses: RAW_LOG,
} satisfies Route;

export const streamLatestLog = {
  method: 'get',
  path: '/api/workflows/{id}/jobs/{job}/logs/stream',
  summary: 'What a job printed and prints in the latest run, until it has ended, as Server-Sent Events',
  request: { params: WorkflowJobPath, query: LogStreamQuery, headers: LogStreamHeaders },
  responses: LOG_STREAM,
} satisfies Route;
