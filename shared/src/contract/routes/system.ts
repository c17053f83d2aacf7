// How the process is that answers.
import { z } from 'zod';
import { PROTOCOL } from '../live.ts';
import { answer, type Route } from './route.ts';

export const getHealth = {
  method: 'get',
  path: '/health',
  summary: 'Whether the process lives',
  request: {},
  responses: { 200: answer(z.object({ status: z.literal('ok') }), 'it does') },
} satisfies Route;

const Readiness = z.object({ ready: z.boolean(), reasons: z.array(z.string()) });

export const getReadiness = {
  method: 'get',
  path: '/ready',
  summary: 'Whether the process can do its work',
  request: {},
  responses: { 200: answer(Readiness, 'it can'), 503: answer(Readiness, 'it cannot, and why') },
} satisfies Route;

export const followLive = {
  method: 'get',
  path: '/ws',
  summary: `The WebSocket (subprotocol ${PROTOCOL}) of what changes and is printed: its frames are told by deploy/live.md`,
  request: {},
  responses: { 101: { description: 'frames of JSON' } },
} satisfies Route;
