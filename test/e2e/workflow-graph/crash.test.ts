// What an answer promises holds, whatever dies right after it: rows 40, 51, 64 and 66.
import { Run } from '@wfg/shared/contract/run';
import type { Claimed } from '@wfg/shared/contract/queued-job';
import { type RunEvent, ServerFrame } from '@wfg/shared/contract/live';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { startWalk, type Walk } from '../../support/graph-user.ts';
import { startService, type TestProcess } from '../../support/process.ts';
import { dial } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';

let walk: Walk;

/** A scheduler is there where a test starts one. */
beforeAll(async () => {
  walk = await startWalk({ counts: { scheduler: 0, reaper: 0, worker: 0 } });
});

afterAll(() => walk[Symbol.asyncDispose]());
afterEach(() => walk.leave());

const startScheduler = (): TestProcess => startService('scheduler', { DATABASE_URL: walk.db.url });

async function restartApi(): Promise<void> {
  await walk.cluster.kill('api');
  await walk.cluster.of('api')[0]?.logged('listening');
}

test('40, 64: outputs are stored with the completion, and a scheduler that comes later finds them', async () => {
  await walk.start({ id: 'a' }, { id: 'b', depends_on: ['a'] });
  const a = await walk.claimed();
  expect((await walk.tell(a, 'complete', { outputs: { version: '1.2' } })).status).toBe(200);
  await restartApi();
  expect(await walk.claim()).toBeNull();
  await using _ = startScheduler();
  expect((await walk.claimed()).job).toMatchObject({
    job_id: 'b',
    upstream_outputs: { a: { version: '1.2' } },
  });
});

/** Reports that all of these have failed, and kills the api when it has answered some of them. */
async function failAll(claimed: readonly Claimed[]): Promise<void> {
  let answered = 0;
  const reports = claimed.map(async (one) => {
    await walk.tell(one, 'fail', { error: 'no', retryable: true });
    answered++;
  });
  const settled = Promise.allSettled(reports);
  await waitFor('the first answers', () => answered >= 3);
  await restartApi();
  await settled;
}

const claimAll = (count: number) => Promise.all(Array.from({ length: count }, () => walk.claimed()));
const COUNT = 20;

test('51: a failure is taken with all that follows from it, or not at all', async () => {
  const { id } = await walk.start(
    ...Array.from({ length: COUNT }, (_, n) => ({ id: `job-${n}`, max_retries: 1 })),
  );
  for (const [attempt, state] of ['pending', 'failed'].entries()) {
    const claimed = await claimAll(COUNT);
    expect(new Set(claimed.map(({ job }) => `${job.job_id} ${job.attempt}`)).size).toBe(COUNT);
    expect(claimed.every(({ job }) => job.attempt === attempt)).toBe(true);
    await failAll(claimed);
    const shown = Object.values(await walk.jobs(id));
    expect(
      shown.every(({ status }) => ['running', state === 'pending' ? 'queued' : 'failure'].includes(status)),
    ).toBe(true);
    // Who had no answer repeats the report.
    for (const one of claimed)
      expect(await walk.tell(one, 'fail', { error: 'no', retryable: true })).toEqual({
        status: 200,
        body: { state },
      });
  }
  expect(await walk.claim()).toBeNull();
  expect(new Set(Object.values(await walk.statuses(id)))).toEqual(new Set(['failure']));
});

interface Feed {
  socket: WebSocket;
  frames: ServerFrame[];
  events: () => RunEvent[];
}

/** Follows a run from now on. */
async function follow(run: string): Promise<Feed> {
  const socket = dial(walk.cluster.url);
  const frames: ServerFrame[] = [];
  socket.on('message', (data: Buffer) => frames.push(ServerFrame.parse(JSON.parse(data.toString('utf8')))));
  socket.on('open', () => socket.send(JSON.stringify({ op: 'subscribe', id: 'f', topic: 'run', run })));
  await waitFor('the snapshot', () => frames.length > 0);
  return {
    socket,
    frames,
    events: () => frames.flatMap((frame) => (frame.op === 'event' ? frame.event : [])),
  };
}

const isOver = (events: RunEvent[]) => events.some(({ type }) => type === 'run_finished');

test('66: a run is told event by event, each with its ids, attempt and place; who comes anew misses nothing', async () => {
  await using _ = startScheduler();
  const { id, run } = await walk.start(
    { id: 'a', max_retries: 1 },
    { id: 'b', depends_on: ['a'] },
    { id: 'c', depends_on: ['b'] },
  );
  const feed = await follow(run);
  const told = (type: string, job: string) => () =>
    feed.events().some((event) => event.type === type && 'job_id' in event && event.job_id === job);
  await walk.tell(await walk.claimed({ worker_id: 'w1' }), 'fail', {
    error: 'exit code 1: no',
    retryable: true,
  });
  await waitFor('the failure', told('failed', 'a'));
  const again = await walk.claimed({ worker_id: 'w2' });
  await waitFor(
    'the second start',
    () => feed.events().filter(({ type }) => type === 'started').length === 2,
  );
  await walk.tell(again, 'complete', { outputs: { x: '1', y: '2' } });
  const b = await walk.claimed();
  await waitFor('the next start', told('started', 'b'));
  const late = await follow(run);
  await walk.tell(b, 'fail', { error: 'no' });
  for (const one of [feed, late]) await waitFor('the end', () => isOver(one.events()));

  const story = feed.events().map((event) => {
    if (!('job_id' in event)) return event.type;
    return `${event.type} ${event.job_id} ${event.attempt}`;
  });
  expect(story.filter((text) => !/^(changed|ready|run_started)/.test(text))).toEqual([
    'started a 0',
    'failed a 0',
    'started a 1',
    'completed a 1',
    'started b 0',
    'failed b 0',
    'skipped c 0',
    'run_finished',
  ]);
  for (const { events, frames } of [feed, late]) {
    const [first] = frames;
    const revs = [
      first?.op === 'snapshot' && 'run' in first ? first.run.rev : Infinity,
      ...events().map(({ rev }) => rev),
    ];
    expect(revs).toEqual([...new Set(revs)].toSorted((x, y) => x - y));
    for (const event of events())
      expect(event).toMatchObject({ run_id: run, workflow_id: id, at: expect.any(String) });
  }
  expect(feed.events()).toContainEqual(
    expect.objectContaining({ type: 'failed', retryable: true, attempt: 0 }),
  );
  expect(feed.events()).toContainEqual(expect.objectContaining({ type: 'completed', outputs: ['x', 'y'] }));
  // A snapshot and what follows it are the run as it is now, whenever one began.
  const { jobs } = Run.parse((await walk.ask('GET', `/api/runs/${run}`)).body);
  for (const { frames } of [feed, late]) {
    const known = new Map<string, unknown>();
    for (const frame of frames) {
      if (frame.op === 'snapshot' && 'run' in frame)
        for (const job of frame.run.jobs) known.set(job.job_id, job);
      else if (frame.op === 'event' && 'job' in frame.event) known.set(frame.event.job_id, frame.event.job);
    }
    expect([...known.values()]).toEqual(jobs);
  }
  for (const { socket } of [feed, late]) socket.close();
});
