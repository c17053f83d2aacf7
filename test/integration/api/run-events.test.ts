// Events against readings of real rows: whoever applies them has what a new reading would say.
import type { Job, Outcome } from '@wfg/shared/contract/job';
import type { RunEvent } from '@wfg/shared/contract/live';
import type { ClaimedJob } from '@wfg/shared/queries/claim';
import { requeueJob } from '@wfg/shared/queries/requeue';
import { reapExpired } from '@wfg/shared/queries/reap';
import { readTracedRun, type TracedRun } from '@wfg/shared/queries/run';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventsBetween } from '../../../services/api/src/live/run-events.ts';
import {
  advance,
  cancel,
  claim,
  claimEvent,
  enqueue,
  finish,
  moveClock,
  submit,
} from '../../support/engine.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

let db: TestDatabase;

beforeEach(async () => {
  db = await testDatabase();
});

afterEach(() => db[Symbol.asyncDispose]());

async function read(run: string): Promise<TracedRun> {
  const reading = await readTracedRun(db.pool, run);
  if (!reading) throw new Error(`there is no run ${run}`);
  return reading;
}

/** What is told of what `acts` do, from one reading to the next. */
async function told(run: string, acts: () => Promise<unknown>): Promise<RunEvent[]> {
  const before = await read(run);
  await acts();
  const after = await read(run);
  const events = eventsBetween(before, after);
  if (!events) throw new Error('events cannot tell it');
  return events;
}

const types = (events: RunEvent[]) =>
  events.map((event) => ('job_id' in event ? `${event.job_id} ${event.type}` : event.type));

async function claimOne(labels: string[] = []): Promise<ClaimedJob> {
  const [job] = await claim(db.pool, { limit: 1, labels });
  if (!job) throw new Error('nothing to claim');
  return job;
}

const failed = { outcome: 'failed', error: 'exit code 1: no', exit_code: 1 } as const;
const delayed = {
  retry: { max_retries: 3, backoff: { Fixed: { delay_secs: 60 } } },
};

test('time that passes is no event, and takes no other event its rev', async () => {
  const run = await submit(db.pool, { a: delayed, b: { labels: ['gpu'] } });
  await advance(db.pool);
  await finish(db.pool, await claimOne(), failed);
  const b = await claimOne(['gpu']);
  const before = await read(run);
  expect(before.run.jobs[0]?.waiting?.reason).toBe('delayed');
  await moveClock(db.pool, '61 s');
  await finish(db.pool, b, { outputs: { x: '1', y: '2' } });
  const after = await read(run);
  expect(after.run.jobs[0]?.waiting?.reason).toBe('no_worker');
  expect(eventsBetween(before, after)).toMatchObject([
    { type: 'completed', job_id: 'b', outputs: ['x', 'y'], rev: before.run.rev + 1 },
  ]);
});

test('what ended an attempt is told with the time it ended, not the time it began', async () => {
  const run = await submit(db.pool, { a: delayed });
  await advance(db.pool);
  const first = await claimOne();
  await moveClock(db.pool, '10 s');
  const [failure] = await told(run, () => finish(db.pool, first, failed));
  expect(failure).toMatchObject({ type: 'failed', retryable: true, error: failed.error });
  expect(Date.parse(failure?.at ?? '') - first.started_at.getTime()).toBeGreaterThanOrEqual(10_000);

  await moveClock(db.pool, '80 s');
  const second = await claimOne();
  await moveClock(db.pool, '120 s');
  const [loss, ...rest] = await told(run, () => reapExpired(db.pool, 10));
  expect(loss).toMatchObject({ type: 'lease_expired', worker_id: 'w1', job: { state: 'pending' } });
  expect(Date.parse(loss?.at ?? '') - second.started_at.getTime()).toBeGreaterThanOrEqual(40_000);
  expect(rest).toEqual([]);

  const cancelled = await told(run, async () => {
    await cancel(db.pool, run);
    await advance(db.pool);
  });
  expect(types(cancelled)).toEqual(['a cancelled', 'run_finished']);
});

test('an attempt that began and ended between two readings is told, and the job is left as it is', async () => {
  const run = await submit(db.pool, { a: {}, b: { needs: 'a', retries: 2 } });
  await advance(db.pool);
  const handedBack = await told(run, async () =>
    finish(db.pool, await claimOne(), { outcome: 'handed_back' }),
  );
  expect(types(handedBack)).toEqual(['run_started', 'a started', 'a changed']);
  expect(handedBack.at(-1)).toMatchObject({ job: { state: 'pending', tries: 0 } });
  const whole = await told(run, async () => {
    await finish(db.pool, await claimOne());
    await advance(db.pool);
    await finish(db.pool, await claimOne(), failed);
  });
  expect(types(whole)).toEqual(['a started', 'a completed', 'b started', 'b failed']);
  expect(whole).toMatchObject([
    { job: { state: 'active', finished_at: null } },
    { job: { state: 'completed' } },
    { job: { state: 'active', error: null } },
    { job: { state: 'pending', error: failed.error }, retryable: true },
  ]);
});

test('what has more events than revs is told by a snapshot', async () => {
  const run = await submit(db.pool, { a: {}, b: {} });
  await advance(db.pool);
  const before = await read(run);
  for (const job of await claim(db.pool)) await finish(db.pool, job);
  const after = await read(run);
  const events = eventsBetween(before, after);
  expect(events).toHaveLength(5);
  const few = { ...after, run: { ...after.run, rev: before.run.rev + 4 } };
  expect(eventsBetween(before, few)).toBeNull();
});

const withoutWaiting = (jobs: Iterable<Job>) => [...jobs].map((job) => ({ ...job, waiting: null }));

function expectToLead(before: TracedRun, events: RunEvent[], after: TracedRun): void {
  const revs = [before.run.rev, ...events.map((event) => event.rev)];
  expect(revs).toEqual([...new Set(revs)].sort((a, b) => a - b));
  expect(events.at(-1)?.rev ?? after.run.rev).toBe(after.run.rev);
  const seen = new Map(before.run.jobs.map((job) => [job.job_id, job]));
  for (const event of events) if ('job' in event) seen.set(event.job_id, event.job);
  expect(withoutWaiting(seen.values())).toEqual(withoutWaiting(after.run.jobs));
}

test.each([
  [7, 60],
  [11, 12],
  [13, 20],
])('whatever happens between readings, the events lead from one to the next: %i', async (start, cancelAt) => {
  const jobs = Object.fromEntries(
    Array.from({ length: 12 }, (_, n) => [
      `j${n}`,
      { retries: 2, ...(n < 4 ? {} : { needs: [`j${n - 4}`, `j${n - 3}`] }) },
    ]),
  );
  const run = await submit(db.pool, jobs);
  const outcomes: Exclude<Outcome, 'lost'>[] = [
    'completed',
    'completed',
    'failed',
    'timed_out',
    'handed_back',
  ];
  const active: ClaimedJob[] = [];
  let seed = start;
  const random = (below: number) => (seed = (seed * 48_271) % 0x7fff_ffff) % below;
  let seconds = 0;
  let snapshots = 0;
  let before = await read(run);

  for (let step = 0; before.run.finished_at === null; step++) {
    for (let acts = random(6); acts >= 0; acts--) {
      const act = random(10);
      if (act < 4) active.push(...(await claim(db.pool, { limit: 1 + random(2) })));
      else if (act < 7 && active.length > 0) {
        const [job] = active.splice(random(active.length), 1);
        const outcome = outcomes[random(outcomes.length)] ?? 'completed';
        if (job) await finish(db.pool, job, { outcome, error: outcome === 'completed' ? null : outcome });
      } else if (act === 7 && random(3) === 0) {
        await moveClock(db.pool, `${(seconds += 31)} s`);
        await reapExpired(db.pool, 2);
      } else await advance(db.pool);
    }
    if (step === cancelAt) await cancel(db.pool, run);
    if (step > cancelAt) await moveClock(db.pool, `${(seconds += 31)} s`);
    if (step > cancelAt) await reapExpired(db.pool, 100);
    const after = await read(run);
    const events = eventsBetween(before, after);
    if (events) expectToLead(before, events, after);
    else snapshots++;
    before = after;
  }
  // The run's number, and a cancel that was seen before it was done.
  expect(snapshots).toBeLessThanOrEqual(2);
});

test('a dead letter that went on and ended again between two readings is told by a snapshot', async () => {
  const run = await enqueue(db.pool, 'x', { max_attempts: 1 });
  await finish(db.pool, await claimEvent(db.pool, 'x'), failed);
  const before = await read(run);
  expect(before.run.status).toBe('failed');
  await requeueJob(db.pool, run);
  await finish(db.pool, await claimEvent(db.pool, 'x'), { outputs: {} });
  const after = await read(run);
  expect(after.run.status).toBe('completed');
  expect(eventsBetween(before, after)).toBeNull();
});
