// Workers: those that are known, and how one that works over HTTP makes itself known.
import { z } from 'zod';
import { WorkflowType } from '../event.ts';
import { Label } from '../workflow.ts';
import { Worker, WorkerId } from '../worker.ts';
import { answer, json, type Route } from './route.ts';

export const listWorkers = {
  method: 'get',
  path: '/api/workers',
  summary: 'The workers that are known, newest first, at most 1,000',
  request: {},
  responses: { 200: answer(z.array(Worker), 'the workers') },
} satisfies Route;

/** What a worker offers. */
export const Labels = z.array(Label).max(1_000);

const RegisterWorker = z
  .strictObject({
    worker_id: WorkerId,
    labels: Labels,
    handlers: z.array(WorkflowType).max(1_000).default([]).meta({
      description: 'types of events that it handles; without any it is given commands only',
    }),
  })
  .meta({ id: 'RegisterWorker' });

export const registerWorker = {
  method: 'post',
  path: '/api/workers/register',
  summary: 'Enter a worker, or the same one started anew',
  request: { body: { ...json(RegisterWorker), required: true } },
  responses: { 200: { description: 'entered' } },
} satisfies Route;

const WorkerPath = z.object({ id: WorkerId });

export const beatWorker = {
  method: 'post',
  path: '/api/workers/{id}/heartbeat',
  summary: 'A sign of life, every 10 s; claims, and heartbeats of leases, are signs too',
  request: { params: WorkerPath },
  responses: { 200: { description: 'heard' } },
} satisfies Route;

export const removeWorker = {
  method: 'delete',
  path: '/api/workers/{id}',
  summary: 'Take a worker off the list, whether it is there or not; what it has claimed stays its own',
  request: { params: WorkerPath },
  responses: { 204: { description: 'it is not on the list' } },
} satisfies Route;
