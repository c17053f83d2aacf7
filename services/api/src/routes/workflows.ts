// Definitions: list, create, show, replace, remove.
import { randomUUID } from 'node:crypto';
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi';
import type { Definition } from '@wfg/shared/contract/definition';
import { encodeCursor } from '@wfg/shared/contract/page';
import { WfgError } from '@wfg/shared/contract/problem';
import { GraphStatus, type WorkflowView, WorkflowView as Workflow } from '@wfg/shared/contract/workflow';
import { listWorkflows, readWorkflow } from '@wfg/shared/queries/workflow-views';
import { deleteWorkflow, putWorkflow } from '@wfg/shared/queries/workflows';
import { SAMPLE_ID, sampleWorkflow } from '@wfg/shared/rules/sample';
import { statesOf } from '@wfg/shared/rules/states';
import type { Queryable } from '@wfg/shared/db/pool';
import { withTx } from '@wfg/shared/db/tx';
import type { Pool } from 'pg';
import type { ApiContext } from '../context.ts';
import { workflowBody } from '../http/body.ts';
import { nextLink } from '../http/next-link.ts';
import { count, documentedWorkflow, json, WorkflowCursor, WorkflowPath } from '../http/schemas.ts';

const DEFAULT_LIMIT = 100;

const list = createRoute({
  method: 'get',
  path: '/api/workflows',
  summary:
    'Definitions, newest first, each with the states of its latest run; large ones make short pages; Link leads to the next',
  request: {
    query: z.strictObject({
      limit: count(0, 1000).optional(),
      cursor: WorkflowCursor.optional(),
      offset: count(0, 1_000_000_000)
        .optional()
        .openapi({ description: 'as workflow-graph had it; pages that Link leads to do not shift' }),
      status: z
        .string()
        .optional()
        .openapi({ description: `at least one job is ${GraphStatus.options.join(', ')}` }),
    }),
  },
  responses: { 200: json(z.array(Workflow), 'the workflows') },
});

const create = createRoute({
  method: 'post',
  path: '/api/workflows',
  summary: 'Store a definition under a new id',
  request: { body: documentedWorkflow },
  responses: { 201: json(Workflow, 'the stored workflow') },
});

const createSample = createRoute({
  method: 'post',
  path: '/api/workflows/sample',
  summary: `Store the sample as ${SAMPLE_ID}`,
  responses: { 201: json(Workflow, 'the sample') },
});

const show = createRoute({
  method: 'get',
  path: '/api/workflows/{id}/status',
  summary: 'A definition with the states of its latest run',
  request: { params: WorkflowPath },
  responses: { 200: json(Workflow, 'the workflow') },
});

const put = createRoute({
  method: 'put',
  path: '/api/workflows/{id}',
  summary: 'Create or replace a definition',
  request: { params: WorkflowPath, body: documentedWorkflow },
  responses: { 200: json(Workflow, 'replaced'), 201: json(Workflow, 'created') },
});

const remove = createRoute({
  method: 'delete',
  path: '/api/workflows/{id}',
  summary: 'Remove a definition; its runs stay',
  request: { params: WorkflowPath },
  responses: { 204: { description: 'removed' } },
});

export function workflowRoutes({ pool }: ApiContext): OpenAPIHono {
  const app = new OpenAPIHono();

  app.openapi(list, async (c) => {
    const { limit = DEFAULT_LIMIT, offset = 0, cursor: after, status } = c.req.valid('query');
    const states = status === undefined ? null : statesOf(status);
    const { workflows, next } = await listWorkflows(pool, { states, after, offset, limit });
    if (next) c.header('link', nextLink(c.req.url, encodeCursor([next.created_at, next.id])));
    return c.json(workflows, 200);
  });

  app.openapi(create, async (c) => {
    const id = randomUUID();
    const { view } = await store(pool, id, await workflowBody(c));
    c.header('location', `/api/workflows/${id}/status`);
    return c.json(view, 201);
  });

  app.openapi(createSample, async (c) => {
    const { view } = await store(pool, SAMPLE_ID, sampleWorkflow());
    c.header('location', `/api/workflows/${SAMPLE_ID}/status`);
    return c.json(view, 201);
  });

  app.openapi(show, async (c) => c.json(await shown(pool, c.req.valid('param').id), 200));

  app.openapi(put, async (c) => {
    const { id } = c.req.valid('param');
    const { created, view } = await store(pool, id, await workflowBody(c));
    return c.json(view, created ? 201 : 200);
  });

  app.openapi(remove, async (c) => {
    const { id } = c.req.valid('param');
    if (!(await deleteWorkflow(pool, id))) throw unknownWorkflow(id);
    return c.body(null, 204);
  });

  return app;
}

/** Stores and reads back together, so that a delete in between does not make what was stored look unknown. */
async function store(
  pool: Pool,
  id: string,
  definition: Definition,
): Promise<{ created: boolean; view: WorkflowView }> {
  return withTx(pool, async (tx) => ({
    created: await putWorkflow(tx, id, definition),
    view: await shown(tx, id),
  }));
}

async function shown(db: Queryable, id: string): Promise<WorkflowView> {
  const workflow = await readWorkflow(db, id);
  if (!workflow) throw unknownWorkflow(id);
  return workflow;
}

export function unknownWorkflow(id: string): WfgError {
  return new WfgError('not_found', `there is no workflow ${id}`);
}
