// Jobs as a worker has them that works over HTTP: claim one, keep its lease, report on it.
import { z } from 'zod';
import { JobState, MAX_OUTPUT_BYTES, Outputs } from '../job.ts';
import { KeyHeader } from '../key.ts';
import { LogStream } from '../log.ts';
import { Claimed } from '../queued-job.ts';
import { Id } from '../workflow.ts';
import { WorkerId } from '../worker.ts';
import { answer, json, type Route } from './route.ts';
import { Labels } from './workers.ts';

export const MAX_WAIT_SECS = 30;

const ClaimJob = z
  .strictObject({
    worker_id: WorkerId,
    labels: Labels,
    lease_ttl_secs: z.int().min(1).max(86_400).default(30),
    wait_secs: z.int().min(0).max(MAX_WAIT_SECS).default(0).meta({
      description: 'how long to wait for a job when there is none',
    }),
  })
  .meta({ id: 'ClaimJob' });

export const claimJob = {
  method: 'post',
  path: '/api/jobs/claim',
  summary: 'Take the first due job whose labels the worker offers; null when there is none',
  request: { headers: KeyHeader, body: { ...json(ClaimJob), required: true } },
  responses: {
    200: answer(
      Claimed.nullable(),
      'the job with a lease on it; the same for the same Idempotency-Key, null once that lease is over',
    ),
  },
} satisfies Route;

// What is no lease at all is not held either, so it is answered like one that is lost.
const LeasePath = z.object({ lease: z.string() });
const LOST = { 409: { description: 'the lease is lost: stop what runs for it' } };

export const renewLease = {
  method: 'post',
  path: '/api/jobs/{lease}/heartbeat',
  summary: 'Renew a lease, from now on, by the time it was claimed with',
  request: { params: LeasePath },
  responses: {
    200: answer(z.object({ cancelled: z.boolean() }), 'whether the job is to stop'),
    ...LOST,
  },
} satisfies Route;

const JobOutputs = Outputs.refine(
  (outputs) => sizeOf(outputs) <= MAX_OUTPUT_BYTES,
  'are larger than 1 MiB in all: keep large results elsewhere and pass on where',
);

function sizeOf(outputs: Outputs): number {
  const encoder = new TextEncoder();
  return Object.entries(outputs).reduce((sum, pair) => sum + encoder.encode(pair.join('')).length, 0);
}

const CompleteJob = z.strictObject({ outputs: JobOutputs.default({}) }).meta({ id: 'CompleteJob' });

const Ended = answer(
  z.object({ state: JobState }),
  'what became of the job; cancelled if that was asked for, whatever the report says',
);

export const completeJob = {
  method: 'post',
  path: '/api/jobs/{lease}/complete',
  summary: 'Report success, with outputs; may be repeated',
  request: { params: LeasePath, body: json(CompleteJob) },
  responses: { 200: Ended, ...LOST },
} satisfies Route;

const FailJob = z
  .strictObject({ error: z.string(), retryable: z.boolean().default(false) })
  .meta({ id: 'FailJob' });

export const failJob = {
  method: 'post',
  path: '/api/jobs/{lease}/fail',
  summary: 'Report a failure, which another try may mend if it is retryable; may be repeated',
  request: { params: LeasePath, body: { ...json(FailJob), required: true } },
  responses: { 200: Ended, ...LOST },
} satisfies Route;

const MAX_SEQUENCE = 2 ** 52;
/** The year 9999, the last that RFC 3339 can write. */
const MAX_TIME_MS = 253_402_300_799_999;

const PushedChunk = z.strictObject({
  workflow_id: z.string().nullable(),
  job_id: z.string(),
  sequence: z.int().min(0).max(MAX_SEQUENCE),
  data: z.string(),
  timestamp_ms: z.int().min(0).max(MAX_TIME_MS),
  stream: LogStream,
  run_id: z.string().optional(),
  attempt: z.int().optional(),
  line: z.unknown().optional(),
});

const PushLog = z.strictObject({ chunks: z.array(PushedChunk) }).meta({ id: 'PushLog' });

export const pushLog = {
  method: 'post',
  path: '/api/jobs/{lease}/logs',
  summary:
    'Add to the log of the attempt; chunks that were sent before are ignored, missing ones told of in the log',
  request: { params: LeasePath, body: { ...json(PushLog), required: true } },
  responses: {
    200: answer(z.object({ next_sequence: z.int() }), 'the number of the chunk that comes next'),
    ...LOST,
  },
} satisfies Route;

export const isCancelled = {
  method: 'get',
  path: '/api/jobs/{workflow}/{job}/cancelled',
  summary: 'Whether the job is to stop: all attempts of it that run, else the job in the latest run',
  request: { params: z.object({ workflow: Id, job: Id }) },
  responses: { 200: answer(z.boolean(), 'false also for what is unknown') },
} satisfies Route;
