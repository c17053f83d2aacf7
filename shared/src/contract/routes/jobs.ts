// One job of a run: itself, its attempts, outputs and logs.
import { z } from 'zod';
import { Attempt, JobWithOutputs, Outputs } from '../job.ts';
import { LOG, LOG_STREAM, LogQuery, LogStreamHeaders, LogStreamQuery, RAW_LOG, RawLogQuery } from './logs.ts';
import { AttemptQuery, JobPath } from './parameters.ts';
import { answer, type Route } from './route.ts';

export const getJob = {
  method: 'get',
  path: '/api/runs/{run}/jobs/{job}',
  summary: 'A job with its outputs',
  request: { params: JobPath },
  responses: { 200: answer(JobWithOutputs, 'the job') },
} satisfies Route;

export const cancelJob = {
  method: 'post',
  path: '/api/runs/{run}/jobs/{job}/cancel',
  summary:
    'Cancel one job: if it waits it ends at once, if it runs it is asked to stop; what needs it is skipped',
  request: { params: JobPath },
  responses: { 202: { description: 'asked for' } },
} satisfies Route;

export const retryJob = {
  method: 'post',
  path: '/api/runs/{run}/jobs/{job}/retry',
  summary:
    'Run a job that failed, was cancelled or skipped again, with all its tries, in a run that goes on; a standalone one that failed at any time: a task goes on at the step it stopped at',
  request: { params: JobPath },
  responses: {
    202: { description: 'it is pending' },
    409: { description: 'its state does not allow it, or its run has ended: rerun that' },
  },
} satisfies Route;

export const listAttempts = {
  method: 'get',
  path: '/api/runs/{run}/jobs/{job}/attempts',
  summary: 'The executions of a job, the first one first, 500 unless limit says less; Link leads to the next',
  request: { params: JobPath, query: AttemptQuery },
  responses: { 200: answer(z.array(Attempt), 'the attempts') },
} satisfies Route;

export const getOutputs = {
  method: 'get',
  path: '/api/runs/{run}/jobs/{job}/outputs',
  summary: 'The named results of a job; none unless it completed',
  request: { params: JobPath },
  responses: { 200: answer(Outputs, 'values by name') },
} satisfies Route;

export const getLog = {
  method: 'get',
  path: '/api/runs/{run}/jobs/{job}/logs',
  summary: 'What a job printed, all attempts unless one is named',
  request: { params: JobPath, query: LogQuery },
  responses: LOG,
} satisfies Route;

export const getRawLog = {
  method: 'get',
  path: '/api/runs/{run}/jobs/{job}/logs/raw',
  summary: 'What one attempt printed, as text; the latest unless one is named',
  request: { params: JobPath, query: RawLogQuery },
  responses: RAW_LOG,
} satisfies Route;

export const streamLog = {
  method: 'get',
  path: '/api/runs/{run}/jobs/{job}/logs/stream',
  summary: 'What a job printed and prints, until it has ended, as Server-Sent Events',
  request: { params: JobPath, query: LogStreamQuery, headers: LogStreamHeaders },
  responses: LOG_STREAM,
} satisfies Route;
