// Definitions: list, create, show, replace, remove.
import { z } from 'zod';
import { KeyHeader } from '../key.ts';
import { GraphStatus, WorkflowView } from '../workflow.ts';
import { count, WorkflowCursor, WorkflowPath } from './parameters.ts';
import { answer, type Route } from './route.ts';
import { workflowBody } from './workflow-body.ts';

export const listWorkflows = {
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
        .meta({ description: 'as workflow-graph had it; pages that Link leads to do not shift' }),
      status: z
        .string()
        .optional()
        .meta({ description: `at least one job is ${GraphStatus.options.join(', ')}` }),
    }),
  },
  responses: { 200: answer(z.array(WorkflowView), 'the workflows') },
} satisfies Route;

export const createWorkflow = {
  method: 'post',
  path: '/api/workflows',
  summary: 'Store a definition under a new id',
  request: { headers: KeyHeader, body: workflowBody },
  responses: { 201: answer(WorkflowView, 'the stored workflow') },
} satisfies Route;

export const createSample = {
  method: 'post',
  path: '/api/workflows/sample',
  summary: 'Store the sample as ci-1',
  request: { headers: KeyHeader },
  responses: { 201: answer(WorkflowView, 'the sample') },
} satisfies Route;

export const getWorkflow = {
  method: 'get',
  path: '/api/workflows/{id}/status',
  summary: 'A definition with the states of its latest run',
  request: { params: WorkflowPath },
  responses: { 200: answer(WorkflowView, 'the workflow') },
} satisfies Route;

export const putWorkflow = {
  method: 'put',
  path: '/api/workflows/{id}',
  summary: 'Create or replace a definition',
  request: { params: WorkflowPath, body: workflowBody },
  responses: { 200: answer(WorkflowView, 'replaced'), 201: answer(WorkflowView, 'created') },
} satisfies Route;

export const deleteWorkflow = {
  method: 'delete',
  path: '/api/workflows/{id}',
  summary: 'Remove a definition; its runs stay',
  request: { params: WorkflowPath },
  responses: { 204: { description: 'removed' } },
} satisfies Route;
