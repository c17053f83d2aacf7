// Schedules: list, create, show, replace, remove, pause, resume, start now, when they tick and what came of it.
import { z } from 'zod';
import { Time } from '../job.ts';
import { KeyHeader } from '../key.ts';
import { decodeCursor, pageOf } from '../page.ts';
import { Schedule, ScheduleId, ScheduleInput, Tick } from '../schedule.ts';
import { Id } from '../workflow.ts';
import { count, FOREIGN_CURSOR } from './parameters.ts';
import { answer, json, type Route } from './route.ts';

const SchedulePath = z.object({ id: ScheduleId });
const PAGE_LIMIT = 500;

/** The keyset position of a schedule: when it was made, and its id. */
const ScheduleCursor = z
  .string()
  .transform((cursor) => {
    const [created_at, id] = decodeCursor(cursor, 2) ?? [];
    return { created_at, id };
  })
  .pipe(z.object({ created_at: z.iso.datetime({ offset: true, error: FOREIGN_CURSOR }), id: ScheduleId }))
  .meta({ type: 'string' });

/** That of a tick: its time. */
const TickCursor = z
  .string()
  .transform((cursor) => decodeCursor(cursor, 1)?.[0])
  .pipe(z.iso.datetime(FOREIGN_CURSOR))
  .meta({ type: 'string' });

const OF_A_WORKFLOW = { 409: { description: "it is one of a workflow's definition" } };

export const listSchedules = {
  method: 'get',
  path: '/api/schedules',
  summary: 'Schedules, newest first; large payloads make short pages',
  request: {
    query: z.strictObject({ limit: count(1, PAGE_LIMIT).optional(), cursor: ScheduleCursor.optional() }),
  },
  responses: { 200: answer(pageOf(Schedule).meta({ id: 'SchedulePage' }), 'a page of schedules') },
} satisfies Route;

export const createSchedule = {
  method: 'post',
  path: '/api/schedules',
  summary: 'Start a workflow, or store an event, at each tick of a cron expression',
  request: {
    headers: KeyHeader,
    body: {
      required: true,
      ...json(
        ScheduleInput.extend({ id: Id.nullish().meta({ description: 'a new one is made up' }) }).meta({
          id: 'NewSchedule',
        }),
      ),
    },
  },
  responses: { 201: answer(Schedule, 'the schedule'), 409: { description: 'the id is taken' } },
} satisfies Route;

export const getSchedule = {
  method: 'get',
  path: '/api/schedules/{id}',
  summary: 'A schedule',
  request: { params: SchedulePath },
  responses: { 200: answer(Schedule, 'the schedule') },
} satisfies Route;

export const putSchedule = {
  method: 'put',
  path: '/api/schedules/{id}',
  summary:
    'Create or replace a schedule; one that is paused stays so, and one that ticks as before misses nothing',
  request: { params: SchedulePath, body: { required: true, ...json(ScheduleInput) } },
  responses: { 200: answer(Schedule, 'replaced'), 201: answer(Schedule, 'created'), ...OF_A_WORKFLOW },
} satisfies Route;

export const deleteSchedule = {
  method: 'delete',
  path: '/api/schedules/{id}',
  summary: 'Remove a schedule and its ticks; what it started stays',
  request: { params: SchedulePath },
  responses: { 204: { description: 'removed' }, ...OF_A_WORKFLOW },
} satisfies Route;

export const pauseSchedule = {
  method: 'post',
  path: '/api/schedules/{id}/pause',
  summary: 'Let a schedule rest: what would have been its ticks is not missed',
  request: { params: SchedulePath },
  responses: { 200: answer(Schedule, 'the schedule') },
} satisfies Route;

export const resumeSchedule = {
  method: 'post',
  path: '/api/schedules/{id}/resume',
  summary: 'Let a schedule go on with its next tick from now',
  request: { params: SchedulePath },
  responses: { 200: answer(Schedule, 'the schedule') },
} satisfies Route;

export const runSchedule = {
  method: 'post',
  path: '/api/schedules/{id}/run',
  summary: 'Start now what the schedule starts, besides its ticks',
  request: { params: SchedulePath, headers: KeyHeader },
  responses: {
    202: answer(z.object({ run_id: z.uuid() }), 'the run'),
    409: { description: 'what it starts is gone' },
  },
} satisfies Route;

export const listNextTicks = {
  method: 'get',
  path: '/api/schedules/{id}/next',
  summary: 'When the schedule ticks next from now on, also while it is paused',
  request: { params: SchedulePath, query: z.strictObject({ count: count(1, 100).optional() }) },
  responses: { 200: answer(z.array(Time), 'the times, the first one first; 5 unless asked otherwise') },
} satisfies Route;

export const listTicks = {
  method: 'get',
  path: '/api/schedules/{id}/ticks',
  summary: 'What came of the ticks of the last 30 days, newest first',
  request: {
    params: SchedulePath,
    query: z.strictObject({ limit: count(1, PAGE_LIMIT).optional(), cursor: TickCursor.optional() }),
  },
  responses: { 200: answer(pageOf(Tick).meta({ id: 'TickPage' }), 'a page of ticks') },
} satisfies Route;
