// Modules of handlers that can be loaded, and that cannot.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listWorkers } from '@wfg/shared/queries/worker-list';
import { expect, inject, test } from 'vitest';
import { submit } from '../../support/engine.ts';
import { enqueue, eventWhen, isCompleted } from '../../support/events.ts';
import { testDatabase } from '../../support/postgres.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { waitFor } from '../../support/wait-for.ts';
import { jobWhen, reasonsOf, ring, startHandlerWorker } from '../../support/worker.ts';

const SDK = fileURLToPath(new URL('../../../shared/src/sdk/define-event.ts', import.meta.url));

/** A file with this code, in which `defineEvent` can be used. */
async function moduleOf(code: string): Promise<string> {
  const path = join(inject('runFolder'), `module-${randomUUID()}.mjs`);
  await writeFile(path, `import { defineEvent } from ${JSON.stringify(SDK)};\n${code}`);
  return path;
}

const tellsPid = (type: string) =>
  `export const one = defineEvent({ type: '${type}', handler: ({ setOutput }) => setOutput('pid', String(process.pid)) });`;

test.for([
  ['not JavaScript', 'Unexpected'],
  ['throw new Error("no license", { cause: "expired" });', 'no license: expired'],
  ['export const nothing = 1;', 'it exports no handler'],
  [
    'export default defineEvent({ type: "", handler() {} });',
    'defineEvent: type must be 1 to 255 characters',
  ],
  ['export default defineEvent({ type: "a", handler: 1 });', 'defineEvent: handler must be a function'],
  [
    'export const all = [1, 2].map(() => defineEvent({ type: "a", handler() {} }));',
    'it exports two handlers of the type a',
  ],
] as const)('a module that is %j is named with its reason, and commands run', async ([code, reason]) => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const bad = await moduleOf(code);
  await using worker = startHandlerWorker(url, {}, [bad]);
  const run = await submit(pool, { job: {} });
  await ring(pool);
  await jobWhen(pool, run, 'job', ({ state }) => state === 'completed');
  expect(await worker.logged('no handlers: their host died')).toMatchObject({
    file: bad,
    reason: expect.stringContaining(`it cannot be loaded: ${reason}`),
  });
  expect(await reasonsOf(worker)).toContainEqual(
    expect.stringMatching(/^handlers module-.*\.mjs: it cannot be loaded: /),
  );
  expect(await listWorkers(pool)).toMatchObject([{ handlers: [] }]);
});

test('of several modules each has a host of its own, and one that is bad does not stop the others', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const modules = [await moduleOf(tellsPid('a')), await moduleOf('throw 1'), await moduleOf(tellsPid('b'))];
  await using worker = startHandlerWorker(url, {}, modules);
  const ids = [await enqueue(pool, 'a'), await enqueue(pool, 'b')];
  const ended = await Promise.all(ids.map((id) => eventWhen(pool, id, isCompleted, 20_000)));
  expect(new Set(ended.map(({ outputs }) => outputs?.pid)).size).toBe(2);
  await waitFor('both types', async () => (await listWorkers(pool))[0]?.handlers.join() === 'a,b');
  expect(await reasonsOf(worker)).toEqual([expect.stringMatching(/it cannot be loaded: 1$/)]);
});

test('a worker without modules runs commands', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  await using worker = startHandlerWorker(url, {}, []);
  const run = await submit(pool, { job: {} });
  await ring(pool);
  await jobWhen(pool, run, 'job', ({ state }) => state === 'completed');
  expect(await reasonsOf(worker)).toEqual([]);
});

test('a database that is away when a host starts gets its declarations later', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  await using proxy = await TcpProxy.start(url);
  const cut = proxy.cutAt('insert into wfg_handlers');
  await using _ = startHandlerWorker(proxy.url, {}, [await moduleOf(tellsPid('a'))]);
  await cut;
  expect(await eventWhen(pool, await enqueue(pool, 'a'), isCompleted)).toMatchObject({ attempt: 0 });
  const { rows } = await pool.query('select workflow_type from wfg_handlers');
  expect(rows).toEqual([{ workflow_type: 'a' }]);
});

test('what a module declares is stored, and kept for events that say nothing', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const module = await moduleOf(
    `export default defineEvent({
      type: 'declared', timeoutSecs: 7, backoff: { Fixed: { delay_secs: 3600 } }, handler() { throw new Error('no'); },
    });`,
  );
  await using _ = startHandlerWorker(url, {}, [module]);
  const id = await enqueue(pool, 'declared', {}, { backoff: null });
  await eventWhen(pool, id, ({ tries, state }) => tries === 1 && state === 'pending', 20_000);
  const { rows } = await pool.query(
    `select h.workflow_type, h.backoff, h.timeout_secs, j.run_at > wfg_now() + interval '59 min' as waits
     from wfg_handlers h join wfg_jobs j using (workflow_type)`,
  );
  expect(rows).toEqual([
    { workflow_type: 'declared', backoff: { Fixed: { delay_secs: 3600 } }, timeout_secs: 7, waits: true },
  ]);
});
