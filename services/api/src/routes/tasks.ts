// Tasks: start one; and what has stopped.
import { OpenAPIHono } from '@hono/zod-openapi';
import { encodeCursor } from '@wfg/shared/contract/page';
import * as routes from '@wfg/shared/contract/routes/tasks';
import { listDead, startTask } from '@wfg/shared/queries/tasks';
import type { ApiContext } from '../context.ts';
import { bind } from '../http/bind.ts';
import { jsonBody } from '../http/body.ts';
import { once } from '../http/once.ts';
import { shownRun } from './runs.ts';

const DEFAULT_LIMIT = 50;

export function taskRoutes(context: ApiContext): OpenAPIHono {
  const { pool } = context;
  const app = new OpenAPIHono();

  app.openapi(bind(app, routes.createTask), async (c) => {
    const input = await jsonBody(c, routes.createTask);
    const { subject } = await once(context, c, input, async (db) => ({
      subject: await startTask(db, input.step, input.wakeup_at ?? null),
      status: 201,
    }));
    c.header('location', `/api/runs/${subject}`);
    return c.json(await shownRun(pool, subject), 201);
  });

  app.openapi(bind(app, routes.listDead), async (c) => {
    const { limit = DEFAULT_LIMIT, cursor, workflow_type } = c.req.valid('query');
    const found = await listDead(pool, { before: cursor, workflow_type, limit: limit + 1 });
    const items = found.slice(0, limit);
    const last = items.at(-1);
    return c.json({ items, next: last && found.length > limit ? encodeCursor([last.run_id]) : null }, 200);
  });

  return app;
}
