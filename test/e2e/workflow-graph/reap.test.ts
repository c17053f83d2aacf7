// Workers that vanish, two of each service, and services that are started anew: rows 60 to 63 and 65.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newGate } from '../../support/gate.ts';
import { type NewJob, startWalk, type Walk } from '../../support/graph-user.ts';
import { waitFor } from '../../support/wait-for.ts';

let walk: Walk;

beforeAll(async () => {
  walk = await startWalk({ counts: { scheduler: 2, reaper: 2 } });
});

afterAll(() => walk[Symbol.asyncDispose]());

/** Only for a worker over HTTP. */
const foreign = (job: NewJob): NewJob => ({ required_labels: ['foreign'], ...job });
const labels = ['foreign'];
const attemptsOf = async (run: string, job: string) =>
  (await walk.ask('GET', `/api/runs/${run}/jobs/${job}/attempts`)).body;

test('60, 62: a job whose worker vanishes is given out again within its budget, then fails', async () => {
  const { id, run } = await walk.start(
    foreign({ id: 'a', max_retries: 2 }),
    foreign({ id: 'b', depends_on: ['a'] }),
  );
  for (let attempt = 0; attempt < 3; attempt++) {
    const claimed = await walk.claimed({ labels, lease_ttl_secs: 1, worker_id: `w${attempt}` });
    expect(claimed.job).toMatchObject({ job_id: 'a', attempt });
  }
  expect((await walk.cluster.ended(run)).status).toBe('failed');
  expect(await walk.claim({ labels })).toBeNull();
  expect(await walk.statuses(id)).toEqual({ a: 'failure', b: 'skipped' });
  expect(await attemptsOf(run, 'a')).toMatchObject([
    { attempt: 0, try: 1, worker_id: 'w0', outcome: 'lost' },
    { attempt: 1, try: 2, worker_id: 'w1', outcome: 'lost' },
    { attempt: 2, try: 3, worker_id: 'w2', outcome: 'lost' },
  ]);
});

test('61: a lost lease without a retry is a failure that says so, and what needs the job is skipped', async () => {
  const { id, run } = await walk.start(foreign({ id: 'a' }), foreign({ id: 'b', depends_on: ['a'] }));
  await walk.claimed({ labels, lease_ttl_secs: 1, worker_id: 'gone' });
  expect((await walk.cluster.ended(run)).status).toBe('failed');
  expect(await walk.jobs(id)).toMatchObject({
    a: { status: 'failure', output: expect.stringContaining('worker gone') },
    b: { status: 'skipped' },
  });
});

test('60: after kill -9 of a worker its job is run again', async () => {
  const { run } = await walk.start({ id: 'a', command: 'test "$WFG_TRY" = 2 || sleep 600', max_retries: 1 });
  await waitFor('the job to run', async () => (await walk.cluster.run(run)).jobs[0]?.state === 'active');
  await walk.cluster.kill('worker');
  expect(await walk.cluster.ended(run)).toMatchObject({
    status: 'completed',
    jobs: [{ attempt: 1, tries: 2 }],
  });
  expect(await attemptsOf(run, 'a')).toMatchObject([{ outcome: 'lost' }, { outcome: 'completed' }]);
});

test('63: what is stored survives kill -9 of every service, and what goes on is finished', async () => {
  const gate = newGate();
  const { id, run } = await walk.start(
    { id: 'done', command: 'echo "::set-output x=1"' },
    { id: 'goes-on', command: gate.wait, max_retries: 2 },
    { id: 'last', depends_on: ['done', 'goes-on'], command: 'test "$WFG_OUT_DONE_X" = 1' },
  );
  await waitFor('both to begin', async () => {
    const { done, 'goes-on': other } = await walk.statuses(id);
    return done === 'success' && other === 'running';
  });
  const before = (await walk.jobs(id)).done;
  for (const name of ['api', 'scheduler', 'reaper', 'worker'] as const) await walk.cluster.kill(name);
  await walk.cluster.of('api')[0]?.logged('listening');
  expect(await walk.jobs(id)).toMatchObject({ done: before, last: { status: 'queued' } });
  await gate.open();
  expect((await walk.cluster.ended(run)).status).toBe('completed');
  expect(await walk.statuses(id)).toEqual({ done: 'success', 'goes-on': 'success', last: 'success' });
});

test('65: two schedulers and two reapers give out each job once', async () => {
  const diamonds = Array.from({ length: 10 }, (_, n) => [
    foreign({ id: `top-${n}` }),
    foreign({ id: `left-${n}`, depends_on: [`top-${n}`] }),
    foreign({ id: `right-${n}`, depends_on: [`top-${n}`] }),
    foreign({ id: `bottom-${n}`, depends_on: [`left-${n}`, `right-${n}`] }),
  ]).flat();
  const { run } = await walk.start(...diamonds);
  const given: string[] = [];
  const worked = Array.from({ length: 8 }, async (_, n) => {
    while (given.length < diamonds.length) {
      const claimed = await walk.claim({ labels, worker_id: `w${n}`, wait_secs: 1 });
      if (!claimed) continue;
      given.push(`${claimed.job.job_id} ${claimed.job.attempt}`);
      expect((await walk.tell(claimed, 'complete')).status).toBe(200);
    }
  });
  await Promise.all(worked);
  expect((await walk.cluster.ended(run)).status).toBe('completed');
  expect(given.toSorted()).toEqual(diamonds.map(({ id }) => `${id} 0`).toSorted());
  expect(await walk.claim({ labels })).toBeNull();
});
