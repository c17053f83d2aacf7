import { once } from 'node:events';
import type { ClientFrame, RunEvent, ServerFrame } from '@wfg/shared/contract/live';
import type { Job } from '@wfg/shared/contract/job';
import type { Run } from '@wfg/shared/contract/run';
import { jobOf, RUN_ID, runOf } from '@wfg/shared/contract/run.fixture';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { connectLive, LIMITS, type LiveClient } from '../live-client.ts';
import { followRun } from './follow-run.ts';
import { textView } from './run-view.ts';

const AT = '2026-11-30T10:00:00.000Z';
const active = { state: 'active', tries: 1, started_at: AT, worker_id: 'w' } as const;

const job = (job_id: string, now: Partial<Job> = {}) => jobOf({ job_id, name: job_id, run_at: AT, ...now });
const run = (rev: number, jobs: Job[], now: Partial<Run> = {}) =>
  runOf({ status: 'running', created_at: AT, rev, jobs, ...now });

/** The job is so from this event on. */
const of = (jobId: string, rev: number, now: Partial<Job>) => ({
  workflow_id: null,
  run_id: RUN_ID,
  at: AT,
  rev,
  job_id: jobId,
  attempt: 0,
  job: job(jobId, { ...active, ...now }),
});
const started = (jobId: string, rev: number): RunEvent => ({
  type: 'started',
  ...of(jobId, rev, {}),
  worker_id: 'w',
});
const completed = (jobId: string, rev: number): RunEvent => ({
  type: 'completed',
  ...of(jobId, rev, { state: 'completed', finished_at: AT }),
  outputs: [],
});
const finished = (rev: number): RunEvent => ({
  type: 'run_finished',
  workflow_id: null,
  run_id: RUN_ID,
  at: AT,
  rev,
  status: 'completed',
});

/** A server that says what the test tells it to, to whatever the client asks. */
let server: WebSocketServer;
let live: LiveClient;
let asked: ClientFrame[];
let remarks: string[];
let shown: string[];
let answer: (frame: ClientFrame, send: (frame: ServerFrame) => void, socket: WebSocket) => void;

beforeEach(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  [asked, remarks, shown] = [[], [], []];
  server.on('connection', (socket) => {
    const send = (frame: ServerFrame) => socket.send(JSON.stringify(frame));
    socket.on('message', (data) => {
      const frame: ClientFrame = JSON.parse(Buffer.isBuffer(data) ? data.toString('utf8') : '');
      asked.push(frame);
      answer(frame, send, socket);
    });
  });
});
afterEach(() => {
  live.close();
  server.close();
});

function follow(limits: Partial<typeof LIMITS> = {}, created = run(1, [job('a'), job('b')])) {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const base = new URL(`http://127.0.0.1:${port}/`);
  live = connectLive({ base, token: undefined }, (text) => remarks.push(text), {
    ...LIMITS,
    ...limits,
  });
  const view = textView({
    write: (text) => shown.push(...text.split('\n').filter(Boolean)),
    isTerminal: false,
  });
  view.begin(created, 'page');
  shown = [];
  return followRun(live, created, view);
}

const log = (id: string, sequence: number, data: string): ServerFrame => ({
  op: 'log',
  id,
  attempt: 0,
  sequence,
  line: 1,
  stream: 'stdout',
  timestamp_ms: 0,
  data,
});
const end = (id: string): ServerFrame => ({ op: 'end', id, state: 'completed', attempt: 0, chunks: 2 });

test('the end of a job is shown after its log, and what follows from it after that', async () => {
  let runId = '';
  answer = (frame, send) => {
    if (frame.op !== 'subscribe') return;
    if (frame.topic === 'run') {
      runId = frame.id;
      send({ op: 'snapshot', id: frame.id, run: run(1, [job('a'), job('b')]) });
      // The log is slower than the events; and what is not newer has been told.
      for (const event of [started('a', 2), completed('a', 3), started('a', 3), started('b', 4)])
        send({ op: 'event', id: runId, event });
    } else if (frame.topic === 'logs' && frame.job === 'a') {
      send(log(frame.id, 0, 'one\ntw'));
      send(log(frame.id, 1, 'o'));
      send(end(frame.id));
    } else {
      send(end(frame.id));
      send({ op: 'event', id: runId, event: completed('b', 5) });
      send({ op: 'event', id: runId, event: finished(6) });
    }
  };
  expect(await follow()).toEqual({ status: 'completed', incomplete: [] });
  expect(shown.filter((line) => line.startsWith('a'))).toEqual([
    'a * started on w',
    'a | one',
    'a | two',
    'a * completed in 0.0 s',
  ]);
  expect(shown.indexOf('b * started on w')).toBeGreaterThan(shown.indexOf('a * completed in 0.0 s'));
});

test('after a lost connection it goes on where it was, and tells what it missed', async () => {
  let connections = 0;
  answer = (frame, send, socket) => {
    if (frame.op !== 'subscribe') return;
    if (frame.topic === 'run' && ++connections === 1) {
      send({ op: 'snapshot', id: frame.id, run: run(2, [job('a', active), job('b')]) });
    } else if (frame.topic === 'run') {
      const ended = job('a', { ...active, state: 'completed', finished_at: AT });
      const jobs = [ended, job('b', { state: 'skipped', finished_at: AT })];
      send({ op: 'snapshot', id: frame.id, run: run(9, jobs, { status: 'completed', finished_at: AT }) });
    } else if (frame.topic === 'logs' && frame.after === undefined) {
      send(log(frame.id, 0, 'one\n'));
      send(log(frame.id, 1, 'two\n'));
      socket.close(1001);
    } else if (frame.topic === 'logs') {
      send(log(frame.id, 2, 'three\n'));
      send(end(frame.id));
    }
  };
  expect(await follow()).toEqual({ status: 'completed', incomplete: [] });
  expect(asked.filter((frame) => frame.op === 'subscribe').at(-1)).toMatchObject({ job: 'a', after: '0:1' });
  expect(shown).toEqual([
    'a * started on w',
    'a | one',
    'a | two',
    'a | three',
    'a * completed in 0.0 s',
    'b * skipped',
  ]);
  expect(remarks).toEqual([expect.stringContaining('lost the connection'), 'connected again']);
});

test('a server that falls silent is left and asked anew', async () => {
  let connections = 0;
  answer = (frame, send) => {
    if (frame.op === 'subscribe' && ++connections > 1) {
      send({ op: 'snapshot', id: frame.id, run: run(2, [], { status: 'cancelled', finished_at: AT }) });
    }
  };
  expect(await follow({ silence: 50 })).toMatchObject({ status: 'cancelled' });
});

test('a run that has begun when it is first seen is followed from its start', async () => {
  answer = (frame, send) => {
    if (frame.op !== 'subscribe') return;
    if (frame.topic === 'logs') {
      send(log(frame.id, 0, 'early\n'));
      send(end(frame.id));
    } else {
      const ended = job('a', { ...active, state: 'completed', finished_at: AT });
      send({ op: 'snapshot', id: frame.id, run: run(4, [ended], { status: 'completed', finished_at: AT }) });
    }
  };
  await follow({}, run(2, [job('a', active)]));
  expect(shown).toEqual(['a * started on w', 'a | early', 'a * completed in 0.0 s']);
});

test('what the server refuses ends it with its words', async () => {
  answer = (frame, send) => {
    if (frame.op === 'subscribe')
      send({ op: 'error', id: frame.id, code: 'not_found', detail: 'there is no run' });
  };
  await expect(follow()).rejects.toMatchObject({ exitCode: 2, message: 'there is no run' });
});

test('a server that stays away is given up', async () => {
  answer = (_frame, _send, socket) => {
    server.close();
    socket.terminate();
  };
  await expect(follow({ away: 300 })).rejects.toMatchObject({
    exitCode: 3,
    message: expect.stringContaining('has not answered'),
  });
});
