// Modules of handlers that can be loaded, and that cannot.
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { listWorkers } from '@wfg/shared/queries/worker-list';
import { expect, inject, test } from 'vitest';
import { submit } from '../../support/engine.ts';
import { enqueue, eventWhen, isCompleted, isFailed } from '../../support/events.ts';
import { testDatabase } from '../../support/postgres.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { waitFor } from '../../support/wait-for.ts';
import { jobWhen, reasonsOf, ring, startHandlerWorker } from '../../support/worker.ts';

/** A file with this code, in which `defineEvent` can be used, in a folder that knows nothing of this repository. */
async function moduleOf(code: string, ending = '.mjs'): Promise<string> {
  const path = join(inject('runFolder'), `module-${randomUUID()}${ending}`);
  await writeFile(path, `import { defineEvent } from '@wfg/sdk';\n${code}`);
  return path;
}

const tellsPid = (type: string, name = 'one') =>
  `export const ${name} = defineEvent({ type: '${type}', handler: ({ setOutput }) => setOutput('pid', String(process.pid)) });`;

test('of several modules each has a host of its own, and one that is bad does not stop the others', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  // What keeps a process alive does not keep the worker from ending.
  const leak = `import { createServer } from 'node:net'; createServer().listen(0); setInterval(() => 1, 100);`;
  const modules = [
    await moduleOf(tellsPid('a')),
    await moduleOf('throw 1'),
    await moduleOf(`${leak}\n${tellsPid('b')}`),
  ];
  await using worker = startHandlerWorker(url, {}, modules);
  const ids = [await enqueue(pool, 'a'), await enqueue(pool, 'b')];
  const ended = await Promise.all(ids.map((id) => eventWhen(pool, id, isCompleted)));
  expect(new Set(ended.map(({ outputs }) => outputs?.pid)).size).toBe(2);
  await waitFor('both types', async () => (await listWorkers(pool))[0]?.handlers.join() === 'a,b');
  const { rows } = await pool.query('select handler_concurrency, modules from wfg_workers');
  expect(rows).toEqual([{ handler_concurrency: 100, modules: [[':event a'], [], [':event b']] }]);
  await worker.logged('no handlers: their host died');
  const reasons = await reasonsOf(worker);
  expect(reasons).toEqual([expect.stringMatching(/it cannot be loaded: 1$/)]);
  await waitFor('the reason', async () => (await listWorkers(pool))[0]?.problem === reasons[0]);
});

test('what a module sends to the parent it finds reaches no worker', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const says = `process.send?.(null); process.send?.('ready'); process.send?.({ op: 'begun' });`;
  const type = 'speaks';
  const code = `${says}\nexport default defineEvent({ type: '${type}', handler() { ${says} } });`;
  await using worker = startHandlerWorker(url, {}, [await moduleOf(code)]);
  const ended = await eventWhen(pool, await enqueue(pool, type), isCompleted);
  expect(ended).toMatchObject({ attempt: 0, losses: 0 });
  expect(await reasonsOf(worker)).toEqual([]);
});

/** Modules that cannot be loaded, and why; FILE stands for the module's own. */
const FAULTS = [
  ['not JavaScript', 'Unexpected', '.mjs'],
  ['throw new Error("no license", { cause: "expired" });', 'no license: expired (FILE:2)'],
  ['\nfunction check() { throw new Error("no"); }\ncheck();', 'no (FILE:3)'],
  ['export const nothing = 1;', 'it exports no handler'],
  [
    'export default defineEvent({ type: "", handler() {} });',
    'defineEvent: type must be 1 to 255 characters',
  ],
  ['export default defineEvent({ type: "a", handler: 1 });', 'defineEvent: handler must be a function'],
  [
    'export const all = [1, 2].map(() => defineEvent({ type: "a", handler() {} }));',
    'it exports two handlers of event a',
  ],
  ["import 'not-installed';", "Cannot find package 'not-installed' imported from FILE"],
  ['const x = (;', 'Expression expected (FILE:2)'],
  [
    'enum Colour { Red }',
    'TypeScript enum is not supported in strip-only mode (FILE:2): TypeScript is run by',
  ],
] as const;

test('modules that cannot be loaded are named with their reasons and lines, and commands run', async () => {
  const files = await Promise.all(FAULTS.map(([code, , ending = '.ts']) => moduleOf(code, ending)));
  await using database = await testDatabase();
  const { pool, url } = database;
  await using worker = startHandlerWorker(url, {}, files);
  const run = await submit(pool, { job: {} });
  await ring(pool);
  await jobWhen(pool, run, 'job', ({ state }) => state === 'completed');
  const reasons = await waitFor('all reasons', async () => {
    const all = await reasonsOf(worker);
    return all.every((reason) => reason.includes('it cannot be loaded')) && all;
  });
  const expected = FAULTS.map(([, reason], index) => {
    const file = files[index] ?? '';
    return `handlers ${file}: it cannot be loaded: ${reason.replace('FILE', file)}`;
  });
  expect(reasons).toEqual(expected.map((text) => expect.stringContaining(text)));
  const logged = () =>
    new Set(worker.logs.filter(({ msg }) => msg === 'no handlers: their host died').map(({ file }) => file));
  await waitFor('a line of each module', () => logged().size >= files.length);
  expect(logged()).toEqual(new Set(files));
  expect(await listWorkers(pool)).toMatchObject([{ handlers: [] }]);
});

/** A folder with a package of its own, and a module in it that handles `extension`, written as that is usual. */
async function folderOf(extension: string, imports: string, exports: string): Promise<string> {
  const folder = join(inject('runFolder'), `modules-${randomUUID()}`);
  await mkdir(join(folder, 'node_modules/greeting'), { recursive: true });
  await writeFile(join(folder, 'node_modules/greeting/index.js'), "exports.hello = 'hello from ';");
  const file = join(folder, `handlers.${extension}`);
  const handler = `({ payload, setOutput }) => setOutput('said', hello + '${extension} ' + payload.id)`;
  const options = `{ type: '${extension}', payload: z.object({ id: z.bigint() }), handler: ${handler} }`;
  await writeFile(file, `${imports}\n${exports} = defineEvent(${options});`);
  return relative('', file);
}

test('modules of any folder and kind import the SDK by its name, and packages from their own node_modules', async () => {
  const esm = "import { defineEvent, z } from '@wfg/sdk'; import { hello } from 'greeting';";
  const cjs = "const { defineEvent, z } = require('@wfg/sdk'); const { hello } = require('greeting');";
  const modules = [
    await folderOf('ts', `${esm} interface Unused { a: string }`, 'export const one: object'),
    await folderOf('mjs', esm, 'export const one'),
    await folderOf('js', cjs, 'exports.one'),
  ];
  await using database = await testDatabase();
  const { pool, url } = database;
  await using _ = startHandlerWorker(url, {}, modules);
  for (const type of ['ts', 'mjs', 'js']) {
    const id = await enqueue(pool, type, { id: JSON.rawJSON('12345678901234567890') });
    const { outputs } = await eventWhen(pool, id, isCompleted);
    expect(outputs).toEqual({ said: `hello from ${type} 12345678901234567890` });
  }
});

test('of two modules that handle the same, one does, and the other is named with it', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const twins = [await moduleOf(tellsPid('a')), await moduleOf(`${tellsPid('a')}\n${tellsPid('b', 'two')}`)];
  await using worker = startHandlerWorker(url, {}, twins);
  const { file, reason } = await worker.logged('no handlers: their host died');
  const other = twins.find((twin) => twin !== file);
  expect(reason).toBe(`it handles event a, as does ${other}: leave it to one of the two`);
  expect(await reasonsOf(worker)).toEqual([`handlers ${String(file)}: ${String(reason)}`]);
  const ids = [await enqueue(pool, 'a'), await enqueue(pool, 'a')];
  const ended = await Promise.all(ids.map((id) => eventWhen(pool, id, isCompleted)));
  expect(new Set(ended.map(({ outputs }) => outputs?.pid)).size).toBe(1);
});

test('a payload that does not fit its schema is a dead letter at once, with what is wrong with it', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  const module = await moduleOf(
    `import { z } from '@wfg/sdk';
    const payload = z.object({ amount: z.number(), currency: z.string().default('EUR') });
    export default defineEvent({ type: 'paid', payload, handler: ({ payload, setOutput }) =>
      setOutput('told', payload.amount + payload.currency) });`,
  );
  await using _ = startHandlerWorker(url, {}, [module]);
  const fits = await enqueue(pool, 'paid', { amount: 3 });
  expect(await eventWhen(pool, fits, isCompleted)).toMatchObject({ outputs: { told: '3EUR' } });
  const misfit = await enqueue(pool, 'paid', { amount: 'three' });
  expect(await eventWhen(pool, misfit, isFailed)).toMatchObject({
    tries: 1,
    error: 'the payload does not fit paid: amount: must be a number',
  });
});

test('a worker without modules runs commands', async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  await using worker = startHandlerWorker(url, {}, []);
  const run = await submit(pool, { job: {} });
  await ring(pool);
  await jobWhen(pool, run, 'job', ({ state }) => state === 'completed');
  expect(await reasonsOf(worker)).toEqual([]);
  expect(await listWorkers(pool)).toMatchObject([{ problem: null }]);
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
  await eventWhen(pool, id, ({ tries, state }) => tries === 1 && state === 'pending');
  const { rows } = await pool.query(
    `select h.workflow_type, h.backoff, h.timeout_secs, j.run_at > wfg_now() + interval '59 min' as waits
     from wfg_handlers h join wfg_jobs j using (workflow_type)`,
  );
  expect(rows).toEqual([
    { workflow_type: 'declared', backoff: { Fixed: { delay_secs: 3600 } }, timeout_secs: 7, waits: true },
  ]);
});
