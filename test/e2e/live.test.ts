// The WebSocket: a viewer who comes late, loses its connection and changes the api still sees each line once.
import type { Job } from '@wfg/shared/contract/job';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startCluster } from '../support/cluster.ts';
import { type Frame, view } from '../support/live-viewer.ts';
import { testDatabase } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';

/** The status with which the server refuses the handshake. */
const refused = (socket: WebSocket) =>
  new Promise((resolve) => socket.once('unexpected-response', (_, response) => resolve(response.statusCode)));

const LINES = 400;
const print = `i=0; while [ $i -lt ${LINES} ]; do i=$((i+1)); echo "line $i"; sleep 0.01; done`;
const whole = Array.from({ length: LINES }, (_, line) => `line ${line + 1}\n`).join('');

test('known fault 29, 30: a log is 1..n once for a viewer who comes late and is cut off, on either api', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database, { counts: { api: 2 } });
  const other = String((await cluster.of('api')[1]?.logged('listening'))?.url);
  const run = await cluster.submit({
    name: 'print',
    jobs: { a: { run: print }, b: { run: 'echo end', needs: 'a' } },
  });
  await waitFor('the first lines', async () => (await cluster.logs(run, 'a')).length > 3);

  const steady = await view(cluster.url, { id: 's', topic: 'logs', run, job: 'a' });
  const collected: Frame<'log'>[] = [];
  for (let cuts = 0; steady.of('end').length === 0; cuts++) {
    const last = collected.at(-1);
    const after = last ? { after: `${last.attempt}:${last.sequence}` } : {};
    const viewer = await view(cuts % 2 === 0 ? other : cluster.url, {
      id: 'c',
      topic: 'logs',
      run,
      job: 'a',
      ...after,
    });
    await waitFor('some more lines', () => viewer.of('log').length >= 2 || viewer.of('end').length > 0);
    viewer.socket.terminate();
    collected.push(...viewer.of('log'));
  }
  const last = collected.at(-1);
  const rest = await view(other, { id: 'r', topic: 'logs', run, job: 'a', after: `0:${last?.sequence}` });
  await waitFor('the end', () => rest.of('end').length > 0);
  collected.push(...rest.of('log'));

  for (const log of [steady.of('log'), collected]) {
    expect(log.map((frame) => frame.sequence)).toEqual(log.map((_, index) => index));
    expect(log.map((frame) => frame.data).join('')).toBe(whole);
  }
  expect(steady.of('attempt')).toEqual([{ op: 'attempt', id: 's', attempt: 0 }]);
  expect(steady.of('end')).toMatchObject([
    { state: 'completed', attempt: 0, chunks: steady.of('log').length },
  ]);
  expect(steady.of('log')).toMatchObject(
    (await cluster.logs(run, 'a')).map(({ data, line }) => ({ data, line })),
  );
  steady.socket.close();
  rest.socket.close();
});

test('a run is told by a snapshot and events in order, to its end', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database);
  const run = await cluster.submit({
    name: 'events',
    jobs: {
      a: { run: 'sleep 1; echo "::set-output x=1"' },
      flaky: { run: 'test "$WFG_TRY" = 2', retries: 1 },
      bad: { run: 'exit 3', needs: 'a' },
      after: { run: 'true', needs: 'bad' },
    },
  });
  const viewer = await view(cluster.url, { id: 'r', topic: 'run', run });
  const events = () => viewer.of('event').map(({ event }) => event);
  await waitFor('the run to finish', () => events().some((event) => event.type === 'run_finished'));

  const snapshots = viewer.of('snapshot').flatMap((frame) => ('run' in frame ? frame.run : []));
  expect(snapshots[0]?.jobs.map((job) => job.job_id)).toEqual(['a', 'flaky', 'bad', 'after']);
  const revs = events().map((event) => event.rev);
  expect(revs).toEqual([...new Set(revs)].toSorted((a, b) => a - b));
  expect(revs[0]).toBeGreaterThan(snapshots.at(-1)?.rev ?? Infinity);
  const ofJob = (id: string) =>
    events().flatMap((event) => ('job_id' in event && event.job_id === id ? event : []));
  expect(ofJob('a').at(-1)).toMatchObject({ type: 'completed', outputs: ['x'] });
  expect(ofJob('bad').at(-1)).toMatchObject({ type: 'failed', retryable: false });
  expect(ofJob('bad').at(-1)).toHaveProperty('error', expect.stringMatching(/^exit code 3: /));
  expect(ofJob('after')).toMatchObject([{ type: 'skipped', reason: 'needs bad, which failed' }]);
  expect(events().at(-1)).toMatchObject({ type: 'run_finished', status: 'failed' });
  // Whoever takes each event's job for what it is has the run as it is now.
  const seen = new Map<string, Job>();
  for (const frame of viewer.frames) {
    if (frame.op === 'snapshot' && 'run' in frame)
      for (const job of frame.run.jobs) seen.set(job.job_id, job);
    else if (frame.op === 'event' && 'job' in frame.event) seen.set(frame.event.job_id, frame.event.job);
  }
  expect([...seen.values()]).toEqual((await cluster.run(run)).jobs);
  viewer.socket.close();
});

test('bad frames are answered and end neither the socket nor the process', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database);
  const nobody = '01a22c22-a5a4-7a9e-b531-dc8af6b8d634';
  const viewer = await view(cluster.url, { id: 'x', topic: 'run', run: nobody }, { id: 'y', topic: 'moon' });
  for (const bad of ['{', '[]', 'null', '{"op":"dance"}', '{"op":"unsubscribe","id":"nothing"}'])
    viewer.socket.send(bad);
  viewer.socket.send(Buffer.from([0, 1, 2]));
  viewer.socket.send('{"op":"ping"}');
  await waitFor('the answers', () => viewer.of('pong').length === 1 && viewer.of('error').length >= 7);
  expect(viewer.of('error')).toContainEqual(expect.objectContaining({ id: 'x', code: 'not_found' }));
  expect(viewer.of('error')).toContainEqual(expect.objectContaining({ id: 'y', code: 'bad_frame' }));
  expect((await fetch(`${cluster.url}/health`)).status).toBe(200);
  viewer.socket.close();
});

test('a page of another origin cannot connect, nor can a client of another protocol', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database);
  const url = `${cluster.url.replace('http', 'ws')}/ws`;
  expect(await refused(new WebSocket(url, 'wfg.v1', { origin: 'http://evil.example' }))).toBe(403);
  expect(await refused(new WebSocket(url, 'wfg.v1', { headers: { host: 'evil.example' } }))).toBe(403);
  expect(await refused(new WebSocket(url, 'other'))).toBe(400);
});
