// Tasks, and what has stopped and waits for a person: events out of tries, tasks at a step that failed.
import { z } from 'zod';
import { WorkflowType } from '../event.ts';
import { KeyHeader } from '../key.ts';
import { pageOf } from '../page.ts';
import { Run } from '../run.ts';
import { DeadLetter, TaskInput } from '../task.ts';
import { count, RunCursor } from './parameters.ts';
import { answer, json, type Route } from './route.ts';

export const createTask = {
  method: 'post',
  path: '/api/tasks',
  summary: 'Start a task at a step',
  request: { headers: KeyHeader, body: { required: true, ...json(TaskInput) } },
  responses: { 201: answer(Run, 'the task, as the run that it is') },
} satisfies Route;

export const listDead = {
  method: 'get',
  path: '/api/dead',
  summary: 'Dead letters: standalone jobs that failed, newest first',
  request: {
    query: z.strictObject({
      workflow_type: WorkflowType.optional(),
      limit: count(1, 500).optional(),
      cursor: RunCursor.optional(),
    }),
  },
  responses: { 200: answer(pageOf(DeadLetter).meta({ id: 'DeadPage' }), 'a page of them') },
} satisfies Route;
