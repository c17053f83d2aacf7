// The list of workers, and workers of our own in it: rows 67 to 71 and 88 to 90.
import { Worker } from '@wfg/shared/contract/worker';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { ticksOfTree } from '../../support/cpu.ts';
import { moveClock } from '../../support/engine.ts';
import { newGate } from '../../support/gate.ts';
import { startWalk, type Walk } from '../../support/graph-user.ts';
import { waitFor } from '../../support/wait-for.ts';

let walk: Walk;

beforeAll(async () => {
  walk = await startWalk({ env: { WORKER_LABELS: ' gpu, linux ' } });
});

afterAll(() => walk[Symbol.asyncDispose]());
afterEach(() => walk.leave());

/** What our own worker does not offer. */
const labels = ['foreign'];
const register = (worker_id: string, offered = labels) =>
  walk.ask('POST', '/api/workers/register', { worker_id, labels: offered });
const beat = async (id: string) => (await walk.ask('POST', `/api/workers/${id}/heartbeat`)).status;

async function listed(id: string): Promise<Worker | undefined> {
  const { body } = await walk.ask('GET', '/api/workers');
  return z
    .array(Worker)
    .parse(body)
    .find(({ worker_id }) => worker_id === id);
}

test('67: a worker registers with its labels, and again when it is started anew', async () => {
  expect(await register('f67', ['foreign', 'arm'])).toMatchObject({ status: 200, body: '' });
  const first = await listed('f67');
  expect(first).toMatchObject({ labels: ['foreign', 'arm'], status: 'idle', current_job: null });
  await walk.start({ id: 'a', required_labels: labels });
  await walk.claimed({ worker_id: 'f67', labels });
  expect(await listed('f67')).toMatchObject({ status: 'busy' });
  expect((await register('f67', ['foreign'])).status).toBe(200);
  const again = await listed('f67');
  expect(again).toMatchObject({ labels: ['foreign'], status: 'idle', current_job: null });
  expect(again?.registered_at_ms).toBeGreaterThan(first?.registered_at_ms ?? Infinity);
  for (const bad of [{}, { worker_id: 'f' }, { worker_id: '', labels: [] }, { worker_id: 'f', labels: 'x' }])
    expect([bad, (await walk.ask('POST', '/api/workers/register', bad)).status]).toEqual([bad, 422]);
});

test('68: a heartbeat is heard, that of an unknown worker is 404', async () => {
  await register('f68');
  const before = await listed('f68');
  await waitFor('a later beat', async () => {
    expect(await beat('f68')).toBe(200);
    return (await listed('f68'))?.last_heartbeat_ms !== before?.last_heartbeat_ms;
  });
  expect(await beat('nobody')).toBe(404);
});

test('69: a worker is busy with what it has claimed, and idle when it has reported', async () => {
  const { run } = await walk.start(
    { id: 'a', required_labels: labels },
    { id: 'b', required_labels: labels },
  );
  for (const [what, report] of [
    ['complete', {}],
    ['fail', { error: 'no' }],
  ] as const) {
    const claimed = await walk.claimed({ worker_id: 'f69', labels });
    const { job_id } = claimed.job;
    expect(await listed('f69')).toMatchObject({
      status: 'busy',
      current_job: job_id,
      jobs: [{ run_id: run, job_id, attempt: 0 }],
    });
    await walk.tell(claimed, what, report);
    expect(await listed('f69')).toMatchObject({ status: 'idle', current_job: null, jobs: [] });
  }
});

test('70: a worker that is silent becomes offline, and is back with its next sign of life', async () => {
  await register('f70');
  await moveClock(walk.db.pool, '29 s');
  expect(await listed('f70')).toMatchObject({ status: 'idle' });
  await moveClock(walk.db.pool, '31 s');
  expect(await listed('f70')).toMatchObject({ status: 'offline' });
  expect(await beat('f70')).toBe(200);
  expect(await listed('f70')).toMatchObject({ status: 'idle' });
  await moveClock(walk.db.pool, '0');
});

test('71: a worker that leaves is gone from the list, and may come back', async () => {
  await register('f71');
  expect((await walk.ask('DELETE', '/api/workers/f71')).status).toBe(204);
  expect(await listed('f71')).toBeUndefined();
  expect(await beat('f71')).toBe(404);
  expect((await walk.ask('DELETE', '/api/workers/f71')).status).toBe(204);
  expect((await register('f71')).status).toBe(200);
  expect(await listed('f71')).toMatchObject({ status: 'idle' });
});

test('90: a worker offers the labels of WORKER_LABELS, and is given what requires them', async () => {
  expect(await listed('worker-1')).toMatchObject({ labels: ['gpu', 'linux'], status: 'idle' });
  const { id } = await walk.start(
    { id: 'both', required_labels: ['linux', 'gpu'] },
    { id: 'other', required_labels: ['aws'] },
    { id: 'none', depends_on: ['both'] },
  );
  await waitFor('what it can do', async () => (await walk.statuses(id)).none === 'success');
  expect(await walk.statuses(id)).toEqual({ both: 'success', other: 'queued', none: 'success' });
});

/** What our worker and its processes use while nothing happens for as long as a claim waits in vain. */
async function ticksInSilence(): Promise<number> {
  const { pid } = walk.cluster.of('worker')[0] ?? { pid: 0 };
  const before = ticksOfTree(pid);
  expect(await walk.claim({ labels, wait_secs: 5 })).toBeNull();
  return ticksOfTree(pid) - before;
}

/** Of about 500 in that time: what spins takes nearly all, or its share of a busy machine. */
const FEW_TICKS = 50;

test('89: an idle worker leaves the CPU alone, and so does a silent job', async () => {
  expect(await ticksInSilence()).toBeLessThan(FEW_TICKS);
  const gate = newGate();
  const { id } = await walk.start({
    id: 'a',
    command: `mkfifo p; cat p & sleep 600 & ${gate.wait}`.replace('0.02', '1'),
  });
  await waitFor('the job to run', async () => (await walk.statuses(id)).a === 'running');
  expect(await ticksInSilence()).toBeLessThan(FEW_TICKS);
  await gate.open();
  await waitFor('the job to end', async () => (await walk.statuses(id)).a === 'success');
});

test('88: workers outlast a restart of the api, and a worker that was taken off the list is back', async () => {
  await register('f88');
  expect((await walk.ask('DELETE', '/api/workers/worker-1')).status).toBe(204);
  await walk.start({ id: 'a', required_labels: labels });
  const claimed = await walk.claimed({ worker_id: 'f88', labels });
  await walk.cluster.kill('api');
  await walk.cluster.of('api')[0]?.logged('listening');
  expect(await listed('f88')).toMatchObject({ status: 'busy', current_job: 'a' });
  expect(await walk.tell(claimed, 'heartbeat')).toMatchObject({ status: 200 });
  expect((await register('f88')).status).toBe(200);
  expect((await walk.tell(claimed, 'complete')).body).toEqual({ state: 'completed' });
  const { id } = await walk.start({ id: 'own' });
  await waitFor('our own to work', async () => (await walk.statuses(id)).own === 'success');
  await waitFor('it to be back', () => listed('worker-1'));
});
