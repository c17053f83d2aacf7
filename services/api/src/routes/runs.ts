// Runs: list, start one from a workflow in the body or from the jobs of another, show, cancel.
import { OpenAPIHono } from '@hono/zod-openapi';
import { encodeCursor } from '@wfg/shared/contract/page';
import { WfgError } from '@wfg/shared/contract/problem';
import * as routes from '@wfg/shared/contract/routes/runs';
import type { RunListQuery, RunPage } from '@wfg/shared/contract/routes/runs';
import type { Run } from '@wfg/shared/contract/run';
import { RUNS_LISTED } from '@wfg/shared/contract/run-filter';
import type { Queryable } from '@wfg/shared/db/pool';
import { withTx } from '@wfg/shared/db/tx';
import { cancelJob, cancelRuns } from '@wfg/shared/queries/cancel';
import { listRuns } from '@wfg/shared/queries/run-list';
import { rerun } from '@wfg/shared/queries/rerun';
import { readRun } from '@wfg/shared/queries/run';
import { type Submitted, submitRun } from '@wfg/shared/queries/submit';
import type { Pool } from 'pg';
import type { ApiContext } from '../context.ts';
import { bind } from '../http/bind.ts';
import { jsonBody, unordered, workflowBody } from '../http/body.ts';
import { type Made, once } from '../http/once.ts';

export function runRoutes(context: ApiContext): OpenAPIHono {
  const { pool, doorbell } = context;
  const app = new OpenAPIHono();

  app.openapi(bind(app, routes.listRuns), async (c) => {
    const { workflow_id, ...query } = c.req.valid('query');
    return c.json(await runPage(pool, query, workflow_id), 200);
  });

  app.openapi(bind(app, routes.submitRun), async (c) => {
    const definition = await workflowBody(c);
    const { subject } = await once(context, c, unordered(definition), async (db) =>
      startedRun(await submitRun(db, null, definition, {}), 201),
    );
    c.header('location', `/api/runs/${subject}`);
    return c.json(await shownRun(pool, subject), 201);
  });

  app.openapi(bind(app, routes.getRun), async (c) =>
    c.json(await shownRun(pool, c.req.valid('param').run), 200),
  );

  app.openapi(bind(app, routes.cancelRun), async (c) => {
    const { run } = c.req.valid('param');
    const { force } = await jsonBody(c, routes.cancelRun);
    if (await cancelAny(pool, run, force)) {
      doorbell.ring({ cancel: [run], settle: true, runs: [run] });
    } else {
      const { status } = await shownRun(pool, run);
      if (status !== 'cancelled') throw new WfgError('conflict', `the run has ended already: it ${status}`);
    }
    return c.body(null, 202);
  });

  app.openapi(bind(app, routes.rerun), async (c) => {
    const { run } = c.req.valid('param');
    const input = await jsonBody(c, routes.rerun);
    const { subject } = await once(context, c, input, async (db) =>
      startedRun(await rerun(db, run, input.from), 201),
    );
    c.header('location', `/api/runs/${subject}`);
    return c.json(await shownRun(pool, subject), 201);
  });

  return app;
}

/** A run that was started, or found going on. */
export function startedRun({ run_id, lanes }: Submitted, status: number): Made {
  return { subject: run_id, status, hint: { lanes, settle: true, runs: [run_id] } };
}

/** A page of runs, of one workflow or of all. */
export async function runPage(
  db: Queryable,
  { limit = RUNS_LISTED, cursor, ...filter }: RunListQuery,
  workflowId: string | undefined,
): Promise<RunPage> {
  const { items, next } = await listRuns(db, { ...filter, before: cursor, workflowId, limit });
  return { items, next: next === null ? null : encodeCursor([next]) };
}

/** A graph's run, or a standalone job. */
async function cancelAny(pool: Pool, run: string, force: boolean | undefined): Promise<boolean> {
  const asked = await withTx(pool, (tx) => cancelRuns(tx, [run], force));
  return asked.length > 0 || (await cancelJob(pool, run, 'main')) !== null;
}

/** @throws {WfgError} not_found, also of one that is past retention. */
export async function shownRun(db: Queryable, id: string): Promise<Run> {
  const run = await readRun(db, id);
  if (!run) throw new WfgError('not_found', `there is no run ${id}`);
  return run;
}
