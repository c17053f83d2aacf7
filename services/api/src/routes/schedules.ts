// Schedules: list, create, show, replace, remove, pause, resume, start now, when they tick and what came of it.
import { randomUUID } from 'node:crypto';
import { OpenAPIHono } from '@hono/zod-openapi';
import { DEFAULT_CATCH_UP, DEFAULT_TIMEZONE } from '@wfg/shared/contract/cron';
import { DEFAULT_MAX_ATTEMPTS } from '@wfg/shared/contract/event';
import { encodeCursor } from '@wfg/shared/contract/page';
import { type Issue, WfgError } from '@wfg/shared/contract/problem';
import * as routes from '@wfg/shared/contract/routes/schedules';
import type { ScheduleInput } from '@wfg/shared/contract/schedule';
import type { Queryable } from '@wfg/shared/db/pool';
import { joinTx, withTx } from '@wfg/shared/db/tx';
import {
  type ScheduleFields,
  type ScheduleRow,
  type StoredTarget,
  toSchedule,
} from '@wfg/shared/queries/schedule-row';
import {
  deleteSchedule,
  insertSchedule,
  listSchedules,
  pauseSchedule,
  putSchedule,
  readClock,
  readSchedule,
  resumeSchedule,
} from '@wfg/shared/queries/schedules';
import { startScheduled } from '@wfg/shared/queries/start-scheduled';
import { listTicks } from '@wfg/shared/queries/ticks';
import { hasWorkflow } from '@wfg/shared/queries/workflows';
import { nextTicks, rhythmIssue } from '@wfg/shared/rules/cron';
import type { ApiContext } from '../context.ts';
import { bind } from '../http/bind.ts';
import { jsonBody } from '../http/body.ts';
import { type Made, once } from '../http/once.ts';
import { detailOf } from '../http/problems.ts';
import { startedRun } from './runs.ts';

const DEFAULT_LIMIT = 50;
const DEFAULT_COUNT = 5;

export function scheduleRoutes(context: ApiContext): OpenAPIHono {
  const { pool } = context;
  const app = new OpenAPIHono();

  app.openapi(bind(app, routes.listSchedules), async (c) => {
    const { limit = DEFAULT_LIMIT, cursor } = c.req.valid('query');
    const { schedules, next } = await listSchedules(pool, cursor, limit);
    const items = schedules.map(toSchedule);
    return c.json({ items, next: next && encodeCursor([next.created_at, next.id]) }, 200);
  });

  app.openapi(bind(app, routes.createSchedule), async (c) => {
    const body = await jsonBody(c, routes.createSchedule);
    const { id, ...input } = body;
    const fields = fieldsOf(id ?? randomUUID(), input);
    const { subject, made } = await once(context, c, body, (db) => create(db, fields));
    c.header('location', `/api/schedules/${subject}`);
    return c.json(toSchedule(made?.row ?? known(subject, await readSchedule(pool, subject))), 201);
  });

  app.openapi(bind(app, routes.getSchedule), async (c) => {
    const { id } = c.req.valid('param');
    return c.json(toSchedule(known(id, await readSchedule(pool, id))), 200);
  });

  app.openapi(bind(app, routes.putSchedule), async (c) => {
    const { id } = c.req.valid('param');
    const fields = fieldsOf(id, await jsonBody(c, routes.putSchedule));
    assertByHand(id);
    const { created, row } = await withTx(pool, async (tx) => {
      await assertStartable(tx, fields);
      return putSchedule(tx, fields);
    });
    return c.json(toSchedule(row), created ? 201 : 200);
  });

  app.openapi(bind(app, routes.deleteSchedule), async (c) => {
    const { id } = c.req.valid('param');
    known(id, await readSchedule(pool, id));
    assertByHand(id);
    if (!(await deleteSchedule(pool, id))) throw unknown(id);
    return c.body(null, 204);
  });

  app.openapi(bind(app, routes.pauseSchedule), async (c) => {
    const { id } = c.req.valid('param');
    return c.json(toSchedule(known(id, await pauseSchedule(pool, id))), 200);
  });

  app.openapi(bind(app, routes.resumeSchedule), async (c) => {
    const { id } = c.req.valid('param');
    return c.json(toSchedule(known(id, await withTx(pool, (tx) => resumeSchedule(tx, id)))), 200);
  });

  app.openapi(bind(app, routes.runSchedule), async (c) => {
    const { id } = c.req.valid('param');
    const { subject } = await once(context, c, null, async (db) =>
      startedRun(await startScheduled(db, known(id, await readSchedule(db, id))), 202),
    );
    c.header('location', `/api/runs/${subject}`);
    return c.json({ run_id: subject }, 202);
  });

  app.openapi(bind(app, routes.listNextTicks), async (c) => {
    const { id } = c.req.valid('param');
    const { count = DEFAULT_COUNT } = c.req.valid('query');
    const schedule = known(id, await readSchedule(pool, id));
    const times = nextTicks(schedule, await readClock(pool), count);
    return c.json(
      times.map((time) => time.toISOString()),
      200,
    );
  });

  app.openapi(bind(app, routes.listTicks), async (c) => {
    const { id } = c.req.valid('param');
    const { limit = DEFAULT_LIMIT, cursor } = c.req.valid('query');
    const found = await listTicks(pool, id, cursor, limit + 1);
    if (found.length === 0) known(id, await readSchedule(pool, id));
    const items = found.slice(0, limit);
    const last = items.at(-1);
    return c.json({ items, next: last && found.length > limit ? encodeCursor([last.tick_at]) : null }, 200);
  });

  return app;
}

async function create(db: Queryable, fields: ScheduleFields): Promise<Made & { row: ScheduleRow }> {
  const row = await joinTx(db, async (tx) => {
    await assertStartable(tx, fields);
    return insertSchedule(tx, fields);
  });
  if (!row) throw new WfgError('conflict', `there is a schedule ${fields.id} already: PUT replaces it`);
  return { subject: row.id, status: 201, row };
}

/**
 * What is given with every default filled in.
 *
 * @throws {WfgError} invalid_body.
 */
function fieldsOf(id: string, input: ScheduleInput): ScheduleFields {
  const rhythm = { cron: input.cron, timezone: input.timezone ?? DEFAULT_TIMEZONE };
  const issues = [rhythmIssue(rhythm), ...targetIssues(input)].filter((issue) => issue !== null);
  if (issues.length > 0) throw invalid(issues);
  return { id, ...rhythm, catch_up: input.catch_up ?? DEFAULT_CATCH_UP, ...targetOf(input) };
}

function targetOf({ payload = {}, ...given }: ScheduleInput): StoredTarget {
  const none = {
    workflow_id: null,
    env: null,
    workflow_type: null,
    payload: null,
    max_attempts: null,
    priority: null,
  };
  const { workflow_id, workflow_type, env, max_attempts, priority } = given;
  if (isGiven(workflow_id)) return { ...none, workflow_id, env: env ?? {} };
  return {
    ...none,
    workflow_type: workflow_type ?? null,
    payload,
    max_attempts: max_attempts ?? DEFAULT_MAX_ATTEMPTS,
    priority: priority ?? 0,
  };
}

function targetIssues(input: ScheduleInput): Issue[] {
  const isRun = isGiven(input.workflow_id);
  if (!isRun && !isGiven(input.workflow_type)) {
    return [
      { path: 'workflow_id', message: 'say what to start: workflow_id, or workflow_type for an event' },
    ];
  }
  const foreign = isRun
    ? (['workflow_type', 'payload', 'max_attempts', 'priority'] as const)
    : (['env'] as const);
  return foreign
    .filter((field) => isGiven(input[field]))
    .map((path) => ({ path, message: `cannot stand beside ${isRun ? 'workflow_id' : 'workflow_type'}` }));
}

function isGiven<T>(value: T): value is NonNullable<T> {
  return value !== undefined && value !== null;
}

async function assertStartable(db: Queryable, { workflow_id }: ScheduleFields): Promise<void> {
  if (workflow_id === null || (await hasWorkflow(db, workflow_id))) return;
  throw invalid([{ path: 'workflow_id', message: `there is no workflow ${workflow_id}: store it first` }]);
}

/** Those of definitions have a number behind a colon. */
function assertByHand(id: string): void {
  const [workflow, number] = id.split(':');
  if (number === undefined) return;
  throw new WfgError(
    'conflict',
    `schedule ${id} belongs to the definition of workflow ${workflow}: change its on.schedule, or pause it`,
  );
}

function known(id: string, row: ScheduleRow | null): ScheduleRow {
  if (!row) throw unknown(id);
  return row;
}

function unknown(id: string): WfgError {
  return new WfgError('not_found', `there is no schedule ${id}`);
}

function invalid(issues: Issue[]): WfgError {
  return new WfgError('invalid_body', detailOf(issues), issues);
}
