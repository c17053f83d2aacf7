// A browser's session: begun with a token, which the page then forgets, and kept by a cookie that no script can read.
import { Login, Session } from '../session.ts';
import { answer, json, type Route } from './route.ts';

export const getSession = {
  method: 'get',
  path: '/api/session',
  summary: 'Whether a token is asked for, and what the one or the cookie that is sent gives the right to',
  request: {},
  responses: { 200: answer(Session, 'what the sender may do') },
} satisfies Route;

export const login = {
  method: 'post',
  path: '/api/session',
  summary: 'Begin a session of a week with a token: the answer sets its cookie',
  request: { body: { required: true, ...json(Login) } },
  responses: { 200: answer(Session, 'what the session gives the right to') },
} satisfies Route;

export const logout = {
  method: 'delete',
  path: '/api/session',
  summary: "End the cookie's session, and what it follows live",
  request: {},
  responses: { 204: { description: 'there is none any more' } },
} satisfies Route;
