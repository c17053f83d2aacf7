// The HTTP application: all routes with what is common to them.
import { OpenAPIHono } from '@hono/zod-openapi';
import { claimJob } from '@wfg/shared/contract/routes/leases';
import { submitRun } from '@wfg/shared/contract/routes/runs';
import { createWorkflow, putWorkflow } from '@wfg/shared/contract/routes/workflows';
import { cors } from 'hono/cors';
import { askForToken } from './access/ask-for-token.ts';
import { visitorOf } from './access/visitor.ts';
import type { ApiContext } from './context.ts';
import { isApiPath, routingPath } from './http/api-path.ts';
import { readWorkflowBodies } from './http/body.ts';
import { openApiRoute } from './http/openapi.ts';
import { receiveBodies } from './http/receive.ts';
import { notFound, onError, refuseInvalid } from './http/problems.ts';
import { serveClient } from './http/static.ts';
import { eventRoutes } from './routes/events.ts';
import { jobRoutes } from './routes/jobs.ts';
import { leaseRoutes } from './routes/leases.ts';
import { metricsRoutes } from './routes/metrics.ts';
import { runRoutes } from './routes/runs.ts';
import { scheduleRoutes } from './routes/schedules.ts';
import { sessionRoutes } from './routes/session.ts';
import { systemRoutes } from './routes/system.ts';
import { taskRoutes } from './routes/tasks.ts';
import { workerRoutes } from './routes/workers.ts';
import { workflowRunRoutes } from './routes/workflow-runs.ts';
import { workflowRoutes } from './routes/workflows.ts';

export interface AppSettings {
  /** Origins of pages that may use the api besides its own. */
  trustedOrigins: readonly string[];
  /** Where the browser client was built to. */
  clientFolder: string;
}

export function createApp(context: ApiContext, { trustedOrigins, clientFolder }: AppSettings): OpenAPIHono {
  const app = new OpenAPIHono({ defaultHook: refuseInvalid });
  app.onError(onError(context.log, context.doubt));
  app.notFound(notFound(app));
  app.use(async (c, next) => {
    await next();
    c.header('x-content-type-options', 'nosniff');
  });
  app.use(async (c, next) => {
    context.gate.checkOrigin(visitorOf(c));
    await next();
  });
  if (trustedOrigins.length > 0) {
    const allow = cors({ origin: [...trustedOrigins], exposeHeaders: ['link', 'location', 'retry-after'] });
    app.use(async (c, next) => (isApiPath(c.req.path) ? allow(c, next) : next()));
  }
  app.use(askForToken(context.gate, context.paced));
  app.use(receiveBodies());
  const readWorkflows = readWorkflowBodies();
  for (const { method, path } of [createWorkflow, putWorkflow, submitRun])
    app.on(method, routingPath(path), readWorkflows);
  app.use(async (c, next) => (isPaced(c.req.path) ? context.paced(next) : next()));
  app.route('/', workflowRoutes(context));
  app.route('/', workflowRunRoutes(context));
  app.route('/', runRoutes(context));
  app.route('/', jobRoutes(context));
  app.route('/', eventRoutes(context));
  app.route('/', taskRoutes(context));
  app.route('/', metricsRoutes(context));
  app.route('/', workerRoutes(context));
  app.route('/', leaseRoutes(context));
  app.route('/', scheduleRoutes(context));
  app.route('/', sessionRoutes(context));
  app.route('/', systemRoutes(context));
  openApiRoute(app);
  app.get('*', serveClient(clientFolder));
  return app;
}

/** What needs no database does not wait behind what does; a claim may wait long, and paces each of its looks itself. */
function isPaced(path: string): boolean {
  return isApiPath(path) && path !== claimJob.path;
}
