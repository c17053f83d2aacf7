// Understands request bodies: limits, content types, JSON, and the text of workflow files.
import { isTooDeep, MAX_LEVELS, parseJson } from '@wfg/shared/contract/json';
import { WfgError } from '@wfg/shared/contract/problem';
import type { Definition } from '@wfg/shared/contract/definition';
import { defineWorkflow } from '@wfg/shared/rules/definition';
import { check } from '@wfg/shared/rules/issues';
import { messageOf } from '@wfg/shared/rules/message-of';
import type { Context, MiddlewareHandler } from 'hono';
import type { z } from 'zod';
import { isLongText, MAX_WORKFLOW_BYTES, readWorkflowText } from '../workflow-text.ts';
import { detailOf } from './problems.ts';
import { MIB, receivedText } from './receive.ts';
import { type TakeTurn, turns } from './turns.ts';

const MAX_JSON = MIB;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json$/;
/** Of YAML, one after another: each may take seconds. */
const LONG_TEXTS = { atOnce: 1, waiting: 10 };
const YAML_TYPE = /^(?:application\/(?:x-)?yaml|text\/(?:x-)?yaml)$/;

/** A route with a body of JSON. */
interface JsonRoute<S extends z.ZodType> {
  request: { body: { content: { 'application/json': { schema: S } } } };
}

/**
 * The JSON body, of at most 1 MiB unless more is allowed, checked as its route says; no body is `{}`.
 *
 * @throws {WfgError} too_large, unsupported_type, malformed_json, invalid_body.
 */
export async function jsonBody<S extends z.ZodType>(
  c: Context,
  { request }: JsonRoute<S>,
  maxBytes = MAX_JSON,
): Promise<z.output<S>> {
  const { schema } = request.body.content['application/json'];
  const text = receivedText(c.req.raw, maxBytes);
  if (text !== '' && !JSON_TYPE.test(mediaType(c))) throw unsupported(c, 'application/json');
  const { data, issues } = check(schema, text === '' ? {} : parseBody(text));
  if (issues) throw new WfgError('invalid_body', detailOf(issues), issues);
  return data;
}

const workflows = new WeakMap<Request, Promise<Definition>>();

/** Reads the workflow in a body before its request takes a turn: however long that takes, it keeps nobody waiting. */
export function readWorkflowBodies(): MiddlewareHandler {
  const takeTurn = turns(LONG_TEXTS);
  return async (c, next) => {
    const workflow = readWorkflow(c, takeTurn);
    workflows.set(c.req.raw, workflow);
    // What is wrong with it is said by its route, behind what else is.
    await Promise.allSettled([workflow]);
    await next();
  };
}

async function readWorkflow(c: Context, takeTurn: TakeTurn): Promise<Definition> {
  const { raw } = c.req;
  const type = mediaType(c);
  if (YAML_TYPE.test(type)) {
    const text = receivedText(raw, MAX_WORKFLOW_BYTES);
    const read = () => readWorkflowText(text);
    return isLongText(text) ? takeTurn(raw.signal, read) : read();
  }
  if (!JSON_TYPE.test(type)) throw unsupported(c, 'application/json or application/yaml');
  return defineWorkflow(parseBody(receivedText(raw, MAX_WORKFLOW_BYTES)));
}

/**
 * The workflow in the body of at most 16 MiB: as JSON, or the text of a workflow file.
 *
 * @throws {WfgError} too_large, unsupported_type, malformed_json, malformed_yaml, invalid_body, invalid_workflow; unavailable
 *   when too many long texts are being read.
 */
export async function workflowBody(c: Context): Promise<Definition> {
  const workflow = workflows.get(c.req.raw);
  if (!workflow) throw new Error(`the workflow in the body of ${c.req.path} has not been read`);
  return workflow;
}

/** What a workflow says, whatever the order of its jobs: equal workflows are equal bodies. */
export function unordered({ jobs, ...rest }: Definition): unknown {
  return { ...rest, jobs: Object.fromEntries(jobs.map((job) => [job.id, job])) };
}

function mediaType(c: Context): string {
  return c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
}

function unsupported(c: Context, wanted: string): WfgError {
  const type = mediaType(c);
  return new WfgError('unsupported_type', `the content type is ${type || 'missing'}: send ${wanted}`);
}

function parseBody(text: string): unknown {
  if (isTooDeep(text))
    throw new WfgError(
      'invalid_body',
      `the body is nested more than ${MAX_LEVELS} levels deep: make it flatter`,
    );
  try {
    return parseJson(text);
  } catch (err) {
    throw new WfgError('malformed_json', messageOf(err));
  }
}
