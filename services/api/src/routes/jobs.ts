// One job of a run: itself, its attempts, outputs and logs.
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi';
import { Attempt, JobWithOutputs, Outputs } from '@wfg/shared/contract/job';
import { LogChunk } from '@wfg/shared/contract/log';
import type { Queryable } from '@wfg/shared/db/pool';
import { readAttempts, toAttempt } from '@wfg/shared/queries/attempts';
import { readJob } from '@wfg/shared/queries/job';
import type { ApiContext } from '../context.ts';
import { logResponse, logStreamResponse, rawLogResponse, unknownJob } from '../http/log-response.ts';
import {
  JobPath,
  json,
  LOG_STREAM,
  LogQuery,
  LogStreamHeaders,
  LogStreamQuery,
  RAW_LOG,
  RawLogQuery,
} from '../http/schemas.ts';

const show = createRoute({
  method: 'get',
  path: '/api/runs/{run}/jobs/{job}',
  summary: 'A job with its outputs',
  request: { params: JobPath },
  responses: { 200: json(JobWithOutputs, 'the job') },
});

const attempts = createRoute({
  method: 'get',
  path: '/api/runs/{run}/jobs/{job}/attempts',
  summary: 'Every execution of a job, the first one first',
  request: { params: JobPath },
  responses: { 200: json(z.array(Attempt), 'the attempts') },
});

const outputs = createRoute({
  method: 'get',
  path: '/api/runs/{run}/jobs/{job}/outputs',
  summary: 'The named results of a job; none unless it completed',
  request: { params: JobPath },
  responses: { 200: json(Outputs, 'values by name') },
});

const logs = createRoute({
  method: 'get',
  path: '/api/runs/{run}/jobs/{job}/logs',
  summary: 'What a job printed, all attempts unless one is named',
  request: { params: JobPath, query: LogQuery },
  responses: {
    200: json(z.array(LogChunk), 'chunks in order'),
    404: { description: 'no such job' },
  },
});

const rawLogs = createRoute({
  method: 'get',
  path: '/api/runs/{run}/jobs/{job}/logs/raw',
  summary: 'What one attempt printed, as text; the latest unless one is named',
  request: { params: JobPath, query: RawLogQuery },
  responses: RAW_LOG,
});

const streamLogs = createRoute({
  method: 'get',
  path: '/api/runs/{run}/jobs/{job}/logs/stream',
  summary: 'What a job printed and prints, until it has ended, as Server-Sent Events',
  request: { params: JobPath, query: LogStreamQuery, headers: LogStreamHeaders },
  responses: LOG_STREAM,
});

export function jobRoutes(context: ApiContext): OpenAPIHono {
  const { pool } = context;
  const app = new OpenAPIHono();

  app.openapi(show, async (c) => {
    const { run, job } = c.req.valid('param');
    return c.json(await shown(pool, run, job), 200);
  });

  app.openapi(attempts, async (c) => {
    const { run, job } = c.req.valid('param');
    const found = await readAttempts(pool, run, job);
    if (!found) throw unknownJob(job, `run ${run}`);
    return c.json(found.attempts.map(toAttempt), 200);
  });

  app.openapi(outputs, async (c) => {
    const { run, job } = c.req.valid('param');
    return c.json((await shown(pool, run, job)).outputs, 200);
  });

  app.openapi(logs, async (c) => {
    const { run, job } = c.req.valid('param');
    return logResponse(pool, run, job, c.req.valid('query'));
  });

  app.openapi(rawLogs, async (c) => {
    const { run, job } = c.req.valid('param');
    return rawLogResponse(pool, run, job, c.req.valid('query').attempt);
  });

  app.openapi(streamLogs, async (c) => {
    const { run, job } = c.req.valid('param');
    const after = c.req.valid('header')['last-event-id'] ?? c.req.valid('query').after;
    return logStreamResponse(run, job, after, context);
  });

  return app;
}

async function shown(db: Queryable, run: string, job: string): Promise<JobWithOutputs> {
  const found = await readJob(db, run, job);
  if (!found) throw unknownJob(job, `run ${run}`);
  return found;
}
