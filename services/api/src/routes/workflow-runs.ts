// What a stored workflow runs: start, cancel, its runs, the logs of its latest one.
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi';
import { LogChunk } from '@wfg/shared/contract/log';
import { WfgError } from '@wfg/shared/contract/problem';
import type { Queryable } from '@wfg/shared/db/pool';
import { withTx } from '@wfg/shared/db/tx';
import { cancelRuns, findOpenRuns } from '@wfg/shared/queries/cancel';
import { readLatestRun } from '@wfg/shared/queries/latest-run';
import { startRun } from '@wfg/shared/queries/start-run';
import { readWorkflow } from '@wfg/shared/queries/workflow-views';
import type { ApiContext } from '../context.ts';
import { jsonBody } from '../http/body.ts';
import { logResponse, logStreamResponse, rawLogResponse, unknownJob } from '../http/log-response.ts';
import {
  BODIES,
  documentedBody,
  json,
  LOG_STREAM,
  LogQuery,
  LogStreamHeaders,
  LogStreamQuery,
  RAW_LOG,
  RawLogQuery,
  RunListQuery,
  WorkflowJobPath,
  WorkflowPath,
} from '../http/schemas.ts';
import { RunPage, runPage } from './runs.ts';
import { unknownWorkflow } from './workflows.ts';

const start = createRoute({
  method: 'post',
  path: '/api/workflows/{id}/run',
  summary: 'Start a run; while one goes on it is answered instead, unless it is being cancelled',
  request: { params: WorkflowPath, body: documentedBody('StartRun') },
  responses: { 202: json(z.object({ run_id: z.uuid() }), 'the run') },
});

const cancel = createRoute({
  method: 'post',
  path: '/api/workflows/{id}/cancel',
  summary: 'Cancel all runs of the workflow that go on',
  request: { params: WorkflowPath },
  responses: { 202: { description: 'asked for' } },
});

const list = createRoute({
  method: 'get',
  path: '/api/workflows/{id}/runs',
  summary: 'Runs of the workflow without their jobs, newest first',
  request: { params: WorkflowPath, query: RunListQuery },
  responses: { 200: json(RunPage, 'a page of runs') },
});

const logs = createRoute({
  method: 'get',
  path: '/api/workflows/{id}/jobs/{job}/logs',
  summary: "A job's output in the latest run",
  request: { params: WorkflowJobPath, query: LogQuery },
  responses: { 200: json(z.array(LogChunk), 'chunks in order'), 404: { description: 'no such job' } },
});

const rawLogs = createRoute({
  method: 'get',
  path: '/api/workflows/{id}/jobs/{job}/logs/raw',
  summary: 'What one attempt of a job printed in the latest run, as text; the latest unless one is named',
  request: { params: WorkflowJobPath, query: RawLogQuery },
  responses: RAW_LOG,
});

const streamLogs = createRoute({
  method: 'get',
  path: '/api/workflows/{id}/jobs/{job}/logs/stream',
  summary: 'What a job printed and prints in the latest run, until it has ended, as Server-Sent Events',
  request: { params: WorkflowJobPath, query: LogStreamQuery, headers: LogStreamHeaders },
  responses: LOG_STREAM,
});

export function workflowRunRoutes(context: ApiContext): OpenAPIHono {
  const { pool, doorbell } = context;
  const app = new OpenAPIHono();

  app.openapi(start, async (c) => {
    const { id } = c.req.valid('param');
    const { env = {} } = await jsonBody(c, BODIES.StartRun);
    const started = await withTx(pool, (tx) => startRun(tx, id, env));
    if (!started) throw unknownWorkflow(id);
    const { run_id, lanes } = started;
    doorbell.ring({ lanes, settle: true, runs: [run_id] });
    c.header('location', `/api/runs/${run_id}`);
    return c.json({ run_id }, 202);
  });

  app.openapi(cancel, async (c) => {
    const { id } = c.req.valid('param');
    const runs = await withTx(pool, async (tx) => cancelRuns(tx, await findOpenRuns(tx, id)));
    if (runs.length > 0) doorbell.ring({ cancel: runs, settle: true, runs });
    else await assertKnown(pool, id);
    return c.body(null, 202);
  });

  app.openapi(list, async (c) => {
    const { id } = c.req.valid('param');
    const page = await runPage(pool, c.req.valid('query'), id);
    if (page.items.length === 0) await assertKnown(pool, id);
    return c.json(page, 200);
  });

  app.openapi(logs, async (c) => {
    const { id, job } = c.req.valid('param');
    const run = await readLatestRun(pool, id);
    if (run !== null) return logResponse(pool, run, job, c.req.valid('query'));
    const workflow = await readWorkflow(pool, id);
    if (!workflow) throw unknownWorkflow(id);
    if (!workflow.jobs.some((defined) => defined.id === job)) throw unknownJob(job, `workflow ${id}`);
    return c.json([], 200);
  });

  app.openapi(rawLogs, async (c) => {
    const { id, job } = c.req.valid('param');
    return rawLogResponse(pool, await latestRun(pool, id), job, c.req.valid('query').attempt);
  });

  app.openapi(streamLogs, async (c) => {
    const { id, job } = c.req.valid('param');
    const after = c.req.valid('header')['last-event-id'] ?? c.req.valid('query').after;
    return logStreamResponse(await latestRun(pool, id), job, after, context);
  });

  return app;
}

async function latestRun(db: Queryable, id: string): Promise<string> {
  const run = await readLatestRun(db, id);
  if (run !== null) return run;
  if (await readWorkflow(db, id)) throw new WfgError('not_found', `workflow ${id} has not run yet`);
  throw unknownWorkflow(id);
}

/** A workflow whose definition was removed is known as long as there are runs of it. */
async function assertKnown(db: Queryable, id: string): Promise<void> {
  const known = (await readLatestRun(db, id)) ?? (await readWorkflow(db, id));
  if (known === null) throw unknownWorkflow(id);
}
