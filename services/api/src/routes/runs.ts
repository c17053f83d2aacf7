// Runs: list, start one from a workflow in the body, show, cancel.
import { createRoute, OpenAPIHono, type z } from '@hono/zod-openapi';
import { encodeCursor, pageOf } from '@wfg/shared/contract/page';
import { WfgError } from '@wfg/shared/contract/problem';
import { Run, RunSummary } from '@wfg/shared/contract/run';
import { Id } from '@wfg/shared/contract/workflow';
import type { Queryable } from '@wfg/shared/db/pool';
import { withTx } from '@wfg/shared/db/tx';
import { cancelRuns } from '@wfg/shared/queries/cancel';
import { listRuns } from '@wfg/shared/queries/run-list';
import { readRun } from '@wfg/shared/queries/run';
import { submitRun } from '@wfg/shared/queries/submit';
import type { ApiContext } from '../context.ts';
import { jsonBody, workflowBody } from '../http/body.ts';
import { BODIES, documentedBody, documentedWorkflow, json, RunListQuery, RunPath } from '../http/schemas.ts';

const DEFAULT_LIMIT = 50;

export const RunPage = pageOf(RunSummary).openapi('RunPage');
type RunPage = z.infer<typeof RunPage>;

const list = createRoute({
  method: 'get',
  path: '/api/runs',
  summary: 'Runs without their jobs, newest first',
  request: { query: RunListQuery.extend({ workflow_id: Id.optional() }) },
  responses: { 200: json(RunPage, 'a page of runs') },
});

const start = createRoute({
  method: 'post',
  path: '/api/runs',
  summary: 'Start a run of the workflow in the body, which is not stored',
  request: { body: documentedWorkflow },
  responses: { 201: json(Run, 'the run') },
});

const show = createRoute({
  method: 'get',
  path: '/api/runs/{run}',
  summary: 'A run with its jobs',
  request: { params: RunPath },
  responses: { 200: json(Run, 'the run') },
});

const cancel = createRoute({
  method: 'post',
  path: '/api/runs/{run}/cancel',
  summary: 'Cancel a run: what waits ends at once, what runs is asked to stop',
  request: { params: RunPath, body: documentedBody('CancelRun') },
  responses: { 202: { description: 'asked for' } },
});

export function runRoutes({ pool, doorbell }: ApiContext): OpenAPIHono {
  const app = new OpenAPIHono();

  app.openapi(list, async (c) => {
    const { workflow_id, ...query } = c.req.valid('query');
    return c.json(await runPage(pool, query, workflow_id), 200);
  });

  app.openapi(start, async (c) => {
    const { run_id, lanes } = await submitRun(pool, null, await workflowBody(c), {});
    doorbell.ring({ lanes, settle: true, runs: [run_id] });
    c.header('location', `/api/runs/${run_id}`);
    return c.json(await shown(pool, run_id), 201);
  });

  app.openapi(show, async (c) => c.json(await shown(pool, c.req.valid('param').run), 200));

  app.openapi(cancel, async (c) => {
    const { run } = c.req.valid('param');
    await jsonBody(c, BODIES.CancelRun);
    const asked = await withTx(pool, (tx) => cancelRuns(tx, [run]));
    if (asked.length > 0) {
      doorbell.ring({ cancel: [run], settle: true, runs: [run] });
    } else {
      const { status } = await shown(pool, run);
      if (status !== 'cancelled') throw new WfgError('conflict', `the run has ended already: it ${status}`);
    }
    return c.body(null, 202);
  });

  return app;
}

/** A page of runs, of one workflow or of all. */
export async function runPage(
  db: Queryable,
  { limit = DEFAULT_LIMIT, cursor, ...filter }: RunListQuery,
  workflowId: string | undefined,
): Promise<RunPage> {
  const found = await listRuns(db, { ...filter, before: cursor, workflowId, limit: limit + 1 });
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { items, next: last && found.length > limit ? encodeCursor([last.run_id]) : null };
}

async function shown(db: Queryable, id: string): Promise<Run> {
  const run = await readRun(db, id);
  if (!run) throw new WfgError('not_found', `there is no run ${id}`);
  return run;
}
