// What a route of the HTTP interface is: plain data, to which the api binds its handlers, of which /openapi.json is made,
// and from which the client infers its types. The convention:
// - One file a noun, one object a route, named by verb and noun: `export const getRun = {…} satisfies Route`.
// - Schemas are plain zod, with `.meta()` for what the document says besides; one with `.meta({ id })` is a shape of its
//   own there. What only a route needs stands beside it, what is known elsewhere too in ../ with its noun.
// - What comes in by path or query is text: parameters.ts has pieces that read it. Queries are strict objects.
// - `responses` has the good ones, and of the others only what its code does not say: every error is a Problem.
// - A route that makes something has `headers: KeyHeader`, and its handler makes it `once`.
// - The api: `app.openapi(bind(app, getRun), async (c) => …)`. It reads bodies itself, within limits: `jsonBody(c, route)`.
import type { z } from 'zod';

// An alias, since no interface is assignable to hono's type of a route, which has an index signature.
export type Route = {
  method: 'get' | 'put' | 'post' | 'delete';
  /** With its parameters in braces: `/api/runs/{run}`. */
  path: `/${string}`;
  summary: string;
  request: {
    params?: z.ZodObject;
    query?: z.ZodObject;
    headers?: z.ZodObject;
    /** Not required: no body is `{}`. */
    body?: Body & { required?: boolean };
  };
  /** By their status. */
  responses: Record<number, { description: string } & Partial<Body>>;
};

type Body = {
  /** By its media type. */
  content: Record<string, { schema: z.ZodType }>;
};

/** A body of JSON. */
export function json<S extends z.ZodType>(schema: S) {
  return { content: { 'application/json': { schema } } };
}

/** An answer with a body of JSON. */
export function answer<S extends z.ZodType>(schema: S, description: string) {
  return { description, ...json(schema) };
}
