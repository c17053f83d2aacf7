// What a stored workflow runs: start, cancel, its runs, the logs of its latest one.
import { OpenAPIHono } from '@hono/zod-openapi';
import { WfgError } from '@wfg/shared/contract/problem';
import * as routes from '@wfg/shared/contract/routes/workflow-runs';
import type { Queryable } from '@wfg/shared/db/pool';
import { joinTx, withTx } from '@wfg/shared/db/tx';
import { cancelRuns, findOpenRuns } from '@wfg/shared/queries/cancel';
import { readLatestRun } from '@wfg/shared/queries/latest-run';
import { startRun } from '@wfg/shared/queries/start-run';
import { readWorkflow } from '@wfg/shared/queries/workflow-views';
import { credentialOf } from '../access/credential.ts';
import { visitorOf } from '../access/visitor.ts';
import type { ApiContext } from '../context.ts';
import { bind } from '../http/bind.ts';
import { jsonBody } from '../http/body.ts';
import { once } from '../http/once.ts';
import { logResponse, logStreamResponse, rawLogResponse, unknownJob } from '../http/log-response.ts';
import { runPage, startedRun } from './runs.ts';
import { unknownWorkflow } from './workflows.ts';

export function workflowRunRoutes(context: ApiContext): OpenAPIHono {
  const { pool, doorbell } = context;
  const app = new OpenAPIHono();

  app.openapi(bind(app, routes.startRun), async (c) => {
    const { id } = c.req.valid('param');
    const input = await jsonBody(c, routes.startRun);
    const { subject } = await once(context, c, input, async (db) => {
      const started = await joinTx(db, (tx) => startRun(tx, id, input.env ?? {}));
      if (!started) throw unknownWorkflow(id);
      return startedRun(started, 202);
    });
    c.header('location', `/api/runs/${subject}`);
    return c.json({ run_id: subject }, 202);
  });

  app.openapi(bind(app, routes.cancelRuns), async (c) => {
    const { id } = c.req.valid('param');
    const runs = await withTx(pool, async (tx) => cancelRuns(tx, await findOpenRuns(tx, id)));
    if (runs.length > 0) doorbell.ring({ cancel: runs, settle: true, runs });
    else await assertKnown(pool, id);
    return c.body(null, 202);
  });

  app.openapi(bind(app, routes.listWorkflowRuns), async (c) => {
    const { id } = c.req.valid('param');
    const page = await runPage(pool, c.req.valid('query'), id);
    if (page.items.length === 0) await assertKnown(pool, id);
    return c.json(page, 200);
  });

  app.openapi(bind(app, routes.getLatestLog), async (c) => {
    const { id, job } = c.req.valid('param');
    const run = await readLatestRun(pool, id);
    if (run !== null) return logResponse(pool, run, job, c.req.valid('query'));
    const workflow = await readWorkflow(pool, id);
    if (!workflow) throw unknownWorkflow(id);
    if (!workflow.jobs.some((defined) => defined.id === job)) throw unknownJob(job, `workflow ${id}`);
    return c.json([], 200);
  });

  app.openapi(bind(app, routes.getLatestRawLog), async (c) => {
    const { id, job } = c.req.valid('param');
    return rawLogResponse(context, await latestRun(pool, id), job, c.req.valid('query').attempt);
  });

  app.openapi(bind(app, routes.streamLatestLog), async (c) => {
    const { id, job } = c.req.valid('param');
    const after = c.req.valid('header')['last-event-id'] ?? c.req.valid('query').after;
    return logStreamResponse(await latestRun(pool, id), job, after, {
      ...context,
      credential: credentialOf(visitorOf(c)),
    });
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
