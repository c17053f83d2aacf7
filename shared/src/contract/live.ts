// Frames of the WebSocket protocol wfg.v1: what a client sends and what it is sent.
import { z } from 'zod';
import { Job, JobState, Time } from './job.ts';
import { LogStream, parseLogPosition } from './log.ts';
import { Run, RunId, RunStatus, RunSummary } from './run.ts';
import { MOST_RUNS_LISTED, runFilter } from './run-filter.ts';
import { Stats } from './stats.ts';
import { Worker } from './worker.ts';
import { Id as WorkflowId } from './workflow.ts';

export const PROTOCOL = 'wfg.v1';
/** The code that a socket is closed with when its token or session has ended. */
export const UNAUTHORIZED = 4401;

/** A client's own name for a subscription. */
const Id = z.string().min(1).max(255);
export const Named = z.object({ id: Id });
const After = z.string().refine((text) => parseLogPosition(text) !== null, 'must be "<attempt>:<sequence>"');

const Subscribe = z.discriminatedUnion('topic', [
  z.strictObject({
    op: z.literal('subscribe'),
    id: Id,
    topic: z.literal('logs'),
    run: RunId,
    job: Id.regex(/^[^\0]*$/u, 'has a NUL, which no job has'),
    attempt: z
      .int()
      .min(0)
      .max(2 ** 31 - 1)
      .optional(),
    after: After.optional(),
  }),
  z.strictObject({ op: z.literal('subscribe'), id: Id, topic: z.literal('run'), run: RunId }),
  z.strictObject({
    op: z.literal('subscribe'),
    id: Id,
    topic: z.literal('runs'),
    ...runFilter,
    workflow_id: WorkflowId.optional(),
    limit: z.int().min(1).max(MOST_RUNS_LISTED).optional(),
  }),
  z.strictObject({ op: z.literal('subscribe'), id: Id, topic: z.literal('workers') }),
  z.strictObject({ op: z.literal('subscribe'), id: Id, topic: z.literal('stats') }),
]);
export type Subscribe = z.infer<typeof Subscribe>;

export const ClientFrame = z.discriminatedUnion('op', [
  Subscribe,
  z.strictObject({ op: z.literal('unsubscribe'), id: Id }),
  z.strictObject({ op: z.literal('resync'), id: Id }),
  z.strictObject({ op: z.literal('ping') }),
]);
export type ClientFrame = z.infer<typeof ClientFrame>;
/** As a client writes it: times are text. */
export type SentFrame = z.input<typeof ClientFrame>;

const stamp = { workflow_id: z.string().nullable(), run_id: z.uuid(), at: Time, rev: z.int() };
/** `job` is the job after the event, whole: a client has nothing to work out. */
const ofJob = { ...stamp, job_id: z.string(), attempt: z.int(), job: Job };

export const RunEvent = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('ready'), ...ofJob }),
    z.object({ type: z.literal('started'), ...ofJob, worker_id: z.string() }),
    z.object({ type: z.literal('completed'), ...ofJob, outputs: z.array(z.string()) }),
    z.object({
      type: z.literal('failed'),
      ...ofJob,
      error: z.string(),
      retryable: z.boolean(),
      retry_at: Time.nullable(),
    }),
    z.object({ type: z.literal('cancelled'), ...ofJob }),
    z.object({ type: z.literal('lease_expired'), ...ofJob, worker_id: z.string() }),
    z.object({ type: z.literal('skipped'), ...ofJob, reason: z.string() }),
    z.object({ type: z.literal('changed'), ...ofJob }),
    z.object({ type: z.literal('run_started'), ...stamp }),
    z.object({ type: z.literal('run_finished'), ...stamp, status: RunStatus }),
  ])
  .meta({ id: 'RunEvent' });
export type RunEvent = z.infer<typeof RunEvent>;

const snapshot = { op: z.literal('snapshot'), id: Id };
const gone = { op: z.literal('gone'), id: Id };

/** What one `op` says of several topics; a key tells which. */
const Shared = z.union([
  z.object({ ...snapshot, run: Run }),
  z.object({ ...snapshot, runs: z.array(RunSummary) }),
  z.object({ ...snapshot, workers: z.array(Worker) }),
  z.object({ ...snapshot, stats: Stats }),
  z.object({ ...gone, run_id: z.uuid() }),
  z.object({ ...gone, worker_id: z.string() }),
]);

const Own = z.discriminatedUnion('op', [
  z.object({ op: z.literal('run'), id: Id, run: RunSummary }),
  z.object({ op: z.literal('worker'), id: Id, worker: Worker }),
  z.object({ op: z.literal('stats'), id: Id, stats: Stats }),
  z.object({ op: z.literal('event'), id: Id, event: RunEvent }),
  z.object({
    op: z.literal('log'),
    id: Id,
    attempt: z.int(),
    sequence: z.int(),
    line: z.int(),
    stream: LogStream,
    timestamp_ms: z.int(),
    data: z.string(),
  }),
  z.object({ op: z.literal('attempt'), id: Id, attempt: z.int() }),
  z.object({ op: z.literal('end'), id: Id, state: JobState, attempt: z.int(), chunks: z.int() }),
  z.object({ op: z.literal('pong') }),
  z.object({ op: z.literal('error'), id: Id.optional(), code: z.string(), detail: z.string() }),
]);

export const ServerFrame = z.union([Own, Shared]);
export type ServerFrame = z.infer<typeof ServerFrame>;
