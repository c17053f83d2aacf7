// Standalone events, where FlowForge has them: create, list, show, requeue, cancel.
import { OpenAPIHono } from '@hono/zod-openapi';
import { DEFAULT_MAX_ATTEMPTS, type Event, type EventInput, EventProgress } from '@wfg/shared/contract/event';
import { encodeCursor } from '@wfg/shared/contract/page';
import { WfgError } from '@wfg/shared/contract/problem';
import * as routes from '@wfg/shared/contract/routes/events';
import type { Queryable } from '@wfg/shared/db/pool';
import { joinTx, withTx } from '@wfg/shared/db/tx';
import { cancelJob } from '@wfg/shared/queries/cancel';
import { type EnqueuedEvent, enqueueEvent, type NewEvent } from '@wfg/shared/queries/enqueue';
import { toEvent } from '@wfg/shared/queries/event-row';
import { listEvents, readEvent } from '@wfg/shared/queries/events';
import { takeUniqueKey } from '@wfg/shared/queries/keys';
import { readOffers } from '@wfg/shared/queries/offers';
import { readOperation, requestRequeue } from '@wfg/shared/queries/operations';
import { requeueJob } from '@wfg/shared/queries/requeue';
import type { PoolClient } from 'pg';
import { actorOf } from '../access/visitor.ts';
import type { ApiContext } from '../context.ts';
import { attemptsPage } from '../http/attempts-page.ts';
import { bind } from '../http/bind.ts';
import { jsonBody } from '../http/body.ts';
import { nextLink } from '../http/next-link.ts';
import { type Made, once } from '../http/once.ts';

const DEFAULT_LIMIT = 50;

export function eventRoutes(context: ApiContext): OpenAPIHono {
  const { pool, doorbell, log } = context;
  const app = new OpenAPIHono();

  app.openapi(bind(app, routes.createEvent), async (c) => {
    const input = await jsonBody(c, routes.createEvent);
    const { subject, status, made } = await once(context, c, input, (db) => createEvent(db, input));
    c.header('location', `/workflows/${subject}`);
    if (!made?.row) return c.json(await shown(pool, subject), status === 200 ? 200 : 201);
    const { row } = made;
    log.info({ workflow_id: row.run_id, workflow_type: row.workflow_type }, 'Workflow created');
    return c.json(toEvent(row, await readOffers(pool, [row], row.now)), 201);
  });

  app.openapi(bind(app, routes.listEvents), async (c) => {
    const { limit = DEFAULT_LIMIT, cursor, ...filter } = c.req.valid('query');
    const { events, next } = await listEvents(pool, { ...filter, before: cursor, limit });
    if (next !== null) c.header('link', nextLink(c.req.url, encodeCursor([next])));
    return c.json(events, 200);
  });

  app.openapi(bind(app, routes.getEvent), async (c) =>
    c.json(await shown(pool, c.req.valid('param').id), 200),
  );

  app.openapi(bind(app, routes.getEventStatus), async (c) =>
    c.json(EventProgress.parse(await shown(pool, c.req.valid('param').id)), 200),
  );

  app.openapi(bind(app, routes.listEventAttempts), async (c) => {
    const { id } = c.req.valid('param');
    await shown(pool, id);
    return c.json(await attemptsPage(c, pool, { run: id, job: JOB }, c.req.valid('query')), 200);
  });

  app.openapi(bind(app, routes.requeueEvent), async (c) => {
    const { id } = c.req.valid('param');
    const { lane, event } = await withTx(pool, (tx) => requeue(tx, id));
    doorbell.ring({ lanes: { [lane]: 1 }, runs: [id] });
    return c.json(event, 200);
  });

  app.openapi(bind(app, routes.requeueEvents), async (c) => {
    const input = await jsonBody(c, routes.requeueEvents);
    const { subject } = await once(context, c, input, async (db) => ({
      subject: await requestRequeue(db, input.filter, actorOf(c)),
      status: 202,
    }));
    c.header('location', `/api/operations/${subject}`);
    return c.json({ operation_id: subject }, 202);
  });

  app.openapi(bind(app, routes.getOperation), async (c) => {
    const { id } = c.req.valid('param');
    const operation = await readOperation(pool, id);
    if (!operation) throw new WfgError('not_found', `there is no operation ${id}`);
    return c.json(operation, 200);
  });

  app.openapi(bind(app, routes.cancelEvent), async (c) => {
    const { id } = c.req.valid('param');
    await shown(pool, id);
    const state = await cancelJob(pool, id, JOB);
    if (state === null) {
      const { status } = await shown(pool, id);
      if (status !== 'cancelled')
        throw new WfgError('conflict', `the event has ended already: it is ${status}`);
    }
    doorbell.ring({ runs: [id], ...(state === 'active' ? { cancel: [id] } : {}) });
    return c.body(null, 202);
  });

  return app;
}

/** Of a standalone event its only job. */
const JOB = 'main';

/** Stores the event; no row: another one has its unique key. */
async function createEvent(
  db: Queryable,
  { payload = {}, unique_key, unique_for_secs, ...given }: EventInput,
): Promise<Made & { row: EnqueuedEvent | null }> {
  const event: NewEvent = {
    workflow_type: given.workflow_type,
    payload,
    max_attempts: given.max_attempts ?? DEFAULT_MAX_ATTEMPTS,
    run_at: given.run_at ?? null,
    expires_in_secs: given.expires_in_secs ?? null,
    priority: given.priority ?? 0,
    backoff: given.backoff ?? null,
    timeout_secs: given.timeout_secs ?? null,
  };
  if (unique_key == null) return stored(await enqueueEvent(db, event));
  const key = { workflow_type: event.workflow_type, key: unique_key, secs: unique_for_secs ?? null };
  return joinTx(db, async (tx) => {
    const { id, is_new } = await takeUniqueKey(tx, key);
    if (!is_new) return { subject: id, status: 200, row: null };
    return stored(await enqueueEvent(tx, { ...event, id }));
  });
}

function stored(row: EnqueuedEvent): Made & { row: EnqueuedEvent } {
  return { subject: row.run_id, status: 201, row, hint: { lanes: { [row.lane]: 1 } } };
}

/** Read back before it can be claimed, so that the answer is what was asked for. */
async function requeue(tx: PoolClient, id: string): Promise<{ lane: string; event: Event }> {
  const lane = await requeueJob(tx, id);
  const event = await shown(tx, id);
  if (lane === null) throw notDead(event.status);
  return { lane, event };
}

async function shown(db: Queryable, id: string): Promise<Event> {
  const event = await readEvent(db, id);
  if (!event) throw new WfgError('not_found', `there is no event ${id}`);
  return event;
}

function notDead(status: Event['status']): WfgError {
  const why = ['completed', 'cancelled'].includes(status)
    ? 'has ended, so post it anew to run it again'
    : 'is not over, so it needs no requeue: look again later';
  return new WfgError('conflict', `only a dead letter is requeued, and the event is ${status}: it ${why}`);
}
