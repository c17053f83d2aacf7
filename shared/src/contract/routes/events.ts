// Standalone events, where FlowForge has them: create, list, show, requeue, cancel.
import { z } from 'zod';
import { Event, EventInput, EventProgress, EventStatus, WorkflowType } from '../event.ts';
import { Attempt } from '../job.ts';
import { KeyHeader } from '../key.ts';
import { Operation, RequeueFilter } from '../operation.ts';
import { RunId } from '../run.ts';
import { AttemptQuery, count, RunCursor } from './parameters.ts';
import { answer, json, type Route } from './route.ts';

const EventPath = z.object({ id: RunId });

export const createEvent = {
  method: 'post',
  path: '/workflows',
  summary: 'Store an event for the handler of its type',
  request: { headers: KeyHeader, body: { required: true, ...json(EventInput) } },
  responses: {
    201: answer(Event, 'the event'),
    200: answer(Event, 'the event that has the unique_key: nothing was stored'),
  },
} satisfies Route;

export const listEvents = {
  method: 'get',
  path: '/workflows',
  summary: 'Events, newest first; large payloads make short pages; Link leads to the next',
  request: {
    query: z.strictObject({
      status: EventStatus.optional(),
      workflow_type: WorkflowType.optional(),
      limit: count(1, 500).optional(),
      cursor: RunCursor.optional(),
    }),
  },
  responses: { 200: answer(z.array(Event), 'the events') },
} satisfies Route;

export const getEvent = {
  method: 'get',
  path: '/workflows/{id}',
  summary: 'An event',
  request: { params: EventPath },
  responses: { 200: answer(Event, 'the event') },
} satisfies Route;

export const getEventStatus = {
  method: 'get',
  path: '/workflows/{id}/status',
  summary: 'How far an event is, without its payload',
  request: { params: EventPath },
  responses: { 200: answer(EventProgress, 'its status, tries, last error and times') },
} satisfies Route;

export const listEventAttempts = {
  method: 'get',
  path: '/workflows/{id}/attempts',
  summary:
    'The executions of an event, the first one first, 500 unless limit says less; Link leads to the next',
  request: { params: EventPath, query: AttemptQuery },
  responses: { 200: answer(z.array(Attempt), 'the attempts') },
} satisfies Route;

export const requeueEvent = {
  method: 'post',
  path: '/workflows/{id}/requeue',
  summary: 'Make a dead letter pending again, with all its tries',
  request: { params: EventPath },
  responses: { 200: answer(Event, 'the event'), 409: { description: 'it is not a dead letter' } },
} satisfies Route;

export const requeueEvents = {
  method: 'post',
  path: '/workflows/requeue',
  summary: 'Make all dead letters pending again that a filter meets, with all their tries',
  request: {
    headers: KeyHeader,
    body: {
      required: true,
      ...json(z.strictObject({ filter: RequeueFilter }).meta({ id: 'Requeue' })),
    },
  },
  responses: {
    202: answer(
      z.object({ operation_id: z.uuid() }),
      'asked for: GET /api/operations/{id} says how far it is',
    ),
  },
} satisfies Route;

export const getOperation = {
  method: 'get',
  path: '/api/operations/{id}',
  summary: 'How far an operation on many is',
  request: { params: z.object({ id: z.uuid('must be the id of an operation, a UUID') }) },
  responses: { 200: answer(Operation, 'the operation') },
} satisfies Route;

export const cancelEvent = {
  method: 'post',
  path: '/workflows/{id}/cancel',
  summary: 'Cancel an event: one that waits ends at once, one that runs is asked to stop',
  request: { params: EventPath },
  responses: { 202: { description: 'asked for' }, 409: { description: 'it has ended otherwise' } },
} satisfies Route;
