// Definitions: list, create, show, replace, remove.
import { randomUUID } from 'node:crypto';
import { OpenAPIHono } from '@hono/zod-openapi';
import type { Definition } from '@wfg/shared/contract/definition';
import { encodeCursor } from '@wfg/shared/contract/page';
import { WfgError } from '@wfg/shared/contract/problem';
import * as routes from '@wfg/shared/contract/routes/workflows';
import type { WorkflowView } from '@wfg/shared/contract/workflow';
import { listWorkflows, readWorkflow } from '@wfg/shared/queries/workflow-views';
import { deleteWorkflow, putWorkflow } from '@wfg/shared/queries/workflows';
import { SAMPLE_ID, sampleWorkflow } from '@wfg/shared/rules/sample';
import { statesOf } from '@wfg/shared/rules/states';
import type { Queryable } from '@wfg/shared/db/pool';
import { joinTx } from '@wfg/shared/db/tx';
import type { ApiContext } from '../context.ts';
import { bind } from '../http/bind.ts';
import { unordered, workflowBody } from '../http/body.ts';
import { type Made, once } from '../http/once.ts';
import { nextLink } from '../http/next-link.ts';

const DEFAULT_LIMIT = 100;

export function workflowRoutes(context: ApiContext): OpenAPIHono {
  const { pool } = context;
  const app = new OpenAPIHono();

  app.openapi(bind(app, routes.listWorkflows), async (c) => {
    const { limit = DEFAULT_LIMIT, offset = 0, cursor: after, status } = c.req.valid('query');
    const states = status === undefined ? null : statesOf(status);
    const { workflows, next } = await listWorkflows(pool, { states, after, offset, limit });
    if (next) c.header('link', nextLink(c.req.url, encodeCursor([next.created_at, next.id])));
    return c.json(workflows, 200);
  });

  app.openapi(bind(app, routes.createWorkflow), async (c) => {
    const definition = await workflowBody(c);
    const { subject, made } = await once(context, c, unordered(definition), (db) =>
      store(db, randomUUID(), definition),
    );
    c.header('location', `/api/workflows/${subject}/status`);
    return c.json(made?.view ?? (await shown(pool, subject)), 201);
  });

  app.openapi(bind(app, routes.createSample), async (c) => {
    const { subject, made } = await once(context, c, null, (db) => store(db, SAMPLE_ID, sampleWorkflow()));
    c.header('location', `/api/workflows/${subject}/status`);
    return c.json(made?.view ?? (await shown(pool, subject)), 201);
  });

  app.openapi(bind(app, routes.getWorkflow), async (c) =>
    c.json(await shown(pool, c.req.valid('param').id), 200),
  );

  app.openapi(bind(app, routes.putWorkflow), async (c) => {
    const { id } = c.req.valid('param');
    const { status, view } = await store(pool, id, await workflowBody(c));
    return c.json(view, status);
  });

  app.openapi(bind(app, routes.deleteWorkflow), async (c) => {
    const { id } = c.req.valid('param');
    if (!(await deleteWorkflow(pool, id))) throw unknownWorkflow(id);
    return c.body(null, 204);
  });

  return app;
}

/** Stores and reads back together, so that a delete in between does not make what was stored look unknown. */
async function store(db: Queryable, id: string, definition: Definition): Promise<Stored> {
  return joinTx(db, async (tx) => {
    const created = await putWorkflow(tx, id, definition);
    return { subject: id, status: created ? 201 : 200, view: await shown(tx, id) };
  });
}

interface Stored extends Made {
  status: 200 | 201;
  view: WorkflowView;
}

async function shown(db: Queryable, id: string): Promise<WorkflowView> {
  const workflow = await readWorkflow(db, id);
  if (!workflow) throw unknownWorkflow(id);
  return workflow;
}

export function unknownWorkflow(id: string): WfgError {
  return new WfgError('not_found', `there is no workflow ${id}`);
}
