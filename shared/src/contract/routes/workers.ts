// Workers: those that are known.
import { z } from 'zod';
import { Worker } from '../worker.ts';
import { answer, type Route } from './route.ts';

export const listWorkers = {
  method: 'get',
  path: '/api/workers',
  summary: 'The workers that are known, newest first, at most 1,000',
  request: {},
  responses: { 200: answer(z.array(Worker), 'the workers') },
} satisfies Route;
