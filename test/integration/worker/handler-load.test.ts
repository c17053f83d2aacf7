// Many handlers at once: each with its own log, none twice at once, within the bound; and whatever the database does.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  enqueue,
  enqueueAll,
  eventWhen,
  isCompleted,
  isFailed,
  newTrail,
  printed,
} from '../../support/events.ts';
import { newGate } from '../../support/gate.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { waitFor } from '../../support/wait-for.ts';
import { reasonsOf, startHandlerWorker } from '../../support/worker.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await testDatabase();
});

afterAll(() => db[Symbol.asyncDispose]());

const numbered = (text: string, times: number) =>
  Array.from({ length: times }, (_, index) => `${text} ${index}\n`).join('');

test('200 events at once run 50 at a time, each with its own log, and none twice', async () => {
  await using worker = startHandlerWorker(db.url, { HANDLER_CONCURRENCY: '50' });
  const trail = newTrail();
  const gate = newGate();
  const waiting = await enqueueAll(db.pool, 'test.wait', 60, () => ({ trail: trail.path, gate: gate.path }));
  await waitFor('50 to begin', () => trail.lines().length === 50);
  const ids = await enqueueAll(db.pool, 'test.print', 200, (index) => ({
    trail: trail.path,
    text: `event ${index} says`,
    times: 100,
  }));
  expect(trail.lines()).toHaveLength(50);
  await gate.open();
  for (const id of [...waiting, ...ids]) await eventWhen(db.pool, id, isCompleted);
  for (const [index, id] of ids.entries())
    expect(await printed(db.pool, id)).toBe(numbered(`event ${index} says`, 100));
  const begun = trail.lines().filter((line) => line.startsWith('begin'));
  expect(begun).toHaveLength(260);
  expect(new Set(begun).size).toBe(260);
  expect(await reasonsOf(worker)).toEqual([]);
});

test('outputs are stored; those that cannot be are the failure of their event', async () => {
  await using _ = startHandlerWorker(db.url);
  const good = await enqueue(db.pool, 'test.print', { outputs: { a: '1', 'b c': 'nul \0 x' } });
  const large = await enqueue(
    db.pool,
    'test.print',
    { outputs: { a: 'x'.repeat(1_048_577) } },
    { max_attempts: 1 },
  );
  const thrown = await enqueue(db.pool, 'test.throw', { text: 'a cause' }, { max_attempts: 1 });
  expect(await eventWhen(db.pool, good, isCompleted)).toMatchObject({
    outputs: { a: '1', 'b c': 'nul ␀ x' },
  });
  const { error } = await eventWhen(db.pool, large, isFailed);
  expect(error).toMatch(/^outputs are larger than 1 MiB in all/);
  expect(await eventWhen(db.pool, thrown, isFailed)).toMatchObject({ error: 'it failed: a cause' });
  expect(await printed(db.pool, thrown, 'stderr')).toMatch(
    /^Error: it failed\n[^]*cause\]: Error: a cause\n/,
  );
});

test('a database that is away for some seconds costs nothing', async () => {
  await using proxy = await TcpProxy.start(db.url);
  await using worker = startHandlerWorker(proxy.url, { LEASE_TTL_SECS: '30' });
  const trail = newTrail();
  const gate = newGate();
  const waiting = await enqueueAll(db.pool, 'test.wait', 20, () => ({ trail: trail.path, gate: gate.path }));
  await waitFor('all to begin', () => trail.lines().length === 20);
  await proxy.close();
  // They end while nothing can be reported.
  await gate.open();
  await waitFor('all to end', () => trail.lines().length === 40);
  await waitFor('it to say so', async () =>
    (await reasonsOf(worker)).some((reason) =>
      reason.startsWith('handlers test/support/handlers.ts: results: failing'),
    ),
  );
  const later = await enqueue(db.pool, 'test.print', { text: 'later' });
  await proxy.open();
  for (const id of [...waiting, later]) {
    expect(await eventWhen(db.pool, id, isCompleted)).toMatchObject({ attempt: 0, tries: 1 });
  }
  await waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0);
});
