// One job of a run: itself, its attempts, outputs and logs.
import { OpenAPIHono } from '@hono/zod-openapi';
import type { JobWithOutputs } from '@wfg/shared/contract/job';
import {
  cancelJob as cancelJobRoute,
  getJob,
  getLog,
  getOutputs,
  getRawLog,
  listAttempts,
  retryJob as retryJobRoute,
  streamLog,
} from '@wfg/shared/contract/routes/jobs';
import { WfgError } from '@wfg/shared/contract/problem';
import type { Queryable } from '@wfg/shared/db/pool';
import { cancelJob } from '@wfg/shared/queries/cancel';
import { readJob } from '@wfg/shared/queries/job';
import { retryJob } from '@wfg/shared/queries/requeue';
import { credentialOf } from '../access/credential.ts';
import { visitorOf } from '../access/visitor.ts';
import type { ApiContext } from '../context.ts';
import { attemptsPage } from '../http/attempts-page.ts';
import { bind } from '../http/bind.ts';
import { logResponse, logStreamResponse, rawLogResponse, unknownJob } from '../http/log-response.ts';

export function jobRoutes(context: ApiContext): OpenAPIHono {
  const { pool, doorbell } = context;
  const app = new OpenAPIHono();

  app.openapi(bind(app, getJob), async (c) => {
    const { run, job } = c.req.valid('param');
    return c.json(await shown(pool, run, job), 200);
  });

  app.openapi(bind(app, cancelJobRoute), async (c) => {
    const { run, job } = c.req.valid('param');
    const asked = await cancelJob(pool, run, job);
    if (asked !== null) {
      doorbell.ring({ cancel: [run], settle: true, runs: [run] });
    } else {
      const { state } = await shown(pool, run, job);
      if (state !== 'cancelled') throw new WfgError('conflict', `the job has ended already: it is ${state}`);
    }
    return c.body(null, 202);
  });

  app.openapi(bind(app, retryJobRoute), async (c) => {
    const { run, job } = c.req.valid('param');
    await retryJob(pool, run, job);
    return c.body(null, 202);
  });

  app.openapi(bind(app, listAttempts), async (c) => {
    return c.json(await attemptsPage(c, pool, c.req.valid('param'), c.req.valid('query')), 200);
  });

  app.openapi(bind(app, getOutputs), async (c) => {
    const { run, job } = c.req.valid('param');
    return c.json((await shown(pool, run, job)).outputs, 200);
  });

  app.openapi(bind(app, getLog), async (c) => {
    const { run, job } = c.req.valid('param');
    return logResponse(pool, run, job, c.req.valid('query'));
  });

  app.openapi(bind(app, getRawLog), async (c) => {
    const { run, job } = c.req.valid('param');
    return rawLogResponse(context, run, job, c.req.valid('query').attempt);
  });

  app.openapi(bind(app, streamLog), async (c) => {
    const { run, job } = c.req.valid('param');
    const after = c.req.valid('header')['last-event-id'] ?? c.req.valid('query').after;
    return logStreamResponse(run, job, after, { ...context, credential: credentialOf(visitorOf(c)) });
  });

  return app;
}

async function shown(db: Queryable, run: string, job: string): Promise<JobWithOutputs> {
  const found = await readJob(db, run, job);
  if (!found) throw unknownJob(job, `run ${run}`);
  return found;
}
