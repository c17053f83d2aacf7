// `wfg up`, as people meet it: it starts everything, keeps it running, and nothing of it stays behind.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { identifyProcess } from '@wfg/shared/runtime/process-identity';
import { expect, inject, test } from 'vitest';
import { z } from 'zod';
import { asAdmin } from '../support/admin.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { waitFor } from '../support/wait-for.ts';

const CLI = fileURLToPath(new URL('../../services/cli/src/main.ts', import.meta.url));
/** A first start makes a database. */
const START_MS = 60_000;

const UpFile = z.object({
  pid: z.int(),
  url: z.string().nullable(),
  children: z.array(z.object({ pid: z.int() })),
});

interface Folder {
  path: string;
  start: (...args: string[]) => TestProcess;
  read: () => z.infer<typeof UpFile>;
  databaseFile: string;
  /** Processes of the services and the database that run now. */
  pids: () => number[];
}

async function dataFolder(): Promise<Folder> {
  const path = await mkdtemp(join(inject('runFolder'), 'up-'));
  const read = () => UpFile.parse(JSON.parse(readFileSync(join(path, 'up.json'), 'utf8')));
  return {
    path,
    start: (...args) =>
      startProcess('up', [CLI, 'up', ...args], { WFG_DATA_DIR: path, PORT: '0', WORKFLOWS_DIR: path }),
    read,
    databaseFile: join(path, 'database-url'),
    pids() {
      const database = readFileSync(join(path, 'postgres/data/postmaster.pid'), 'utf8');
      return [...read().children.map((child) => child.pid), Number.parseInt(database, 10)];
    },
  };
}

const isAlive = (pid: number) => identifyProcess(pid) !== undefined;

async function isServed(url: unknown): Promise<boolean> {
  return (await fetch(`${String(url)}/api/runs`)).ok;
}

test('it starts, keeps its services running, refuses a second one, and stops in order', async () => {
  const folder = await dataFolder();
  const up = folder.start('--json');
  const { url } = await up.logged('ready');
  expect(await isServed(url)).toBe(true);
  expect(folder.read()).toMatchObject({ pid: up.pid, url, children: { length: 5 } });

  // A signal to what people started, not to the api, reads the workflow files anew.
  await writeFile(join(folder.path, 'later.yml'), "name: later\njobs: { a: { run: 'true' } }\n");
  up.signal('SIGHUP');
  await waitFor(
    'the new file to be read',
    async () => (await fetch(`${String(url)}/api/workflows/later/status`)).ok,
  );

  const second = folder.start();
  expect(await second.ended).toEqual({ code: 1, signal: null });
  const refusal = await waitFor('its reason', () => second.logs[0]?.msg);
  expect(refusal).toContain(`running here already: ${String(url)}`);

  // The api, which keeps its port.
  const [victim = 0] = folder.pids();
  process.kill(victim, 'SIGKILL');
  await waitFor('the api to be killed', () => !isAlive(victim));
  await waitFor('the api to answer again', () => isServed(url), START_MS);
  expect(up.logs).toContainEqual(
    expect.objectContaining({
      level: 'warn',
      msg: expect.stringMatching(/^api was ended by SIGKILL: starting it/),
    }),
  );

  expect(up.logs).toContainEqual(expect.objectContaining({ database_file: folder.databaseFile }));
  expect(statSync(folder.databaseFile).mode & 0o777).toBe(0o600);
  await asAdmin(readFileSync(folder.databaseFile, 'utf8').trim(), (db) =>
    db.query(`notify wfg_events, '{"type":"stop_worker","worker_id":"worker-2"}'`),
  );
  await up.logged('worker-2 was told to stop, and is not started again');

  const pids = folder.pids();
  up.signal('SIGTERM');
  expect(await up.ended).toEqual({ code: 0, signal: null });
  expect(pids.filter(isAlive)).toEqual([]);
  expect([join(folder.path, 'up.json'), folder.databaseFile].filter((path) => existsSync(path))).toEqual([]);
  await waitFor('its last word', () =>
    up.logs.some(({ msg, service }) => msg === 'stopped' && service === 'wfg'),
  );
  const stopped = up.logs.filter(({ msg }) => msg === 'stopped').map(({ service }) => service);
  expect(stopped).toEqual(['worker', 'worker', 'scheduler', 'reaper', 'api', 'wfg']);
}, 150_000);

test('after kill -9 nothing of it stays, and it starts again on the same data', async () => {
  const folder = await dataFolder();
  const killed = folder.start();
  await waitFor('up.json to say where it is', () => folder.read().url, START_MS);
  const { url } = folder.read();
  const body = JSON.stringify({ name: 'kept', jobs: {} });
  const headers = { 'content-type': 'application/json' };
  expect((await fetch(`${url}/api/runs`, { method: 'POST', headers, body })).status).toBe(201);
  // For people: behind names, no JSON, and the address by itself.
  await killed.logged(`  wfg is ready: ${url}`);
  await killed.logged(`  its database:  psql "$(cat ${folder.databaseFile})"`);
  const lines = killed.logs.map(({ msg }) => msg);
  const { password } = new URL(readFileSync(folder.databaseFile, 'utf8'));
  expect(lines.filter((line) => line?.includes(password))).toEqual([]);
  expect(lines).toContainEqual(expect.stringMatching(/^worker-2 +\| \d\d:\d\d:\d\d /));

  const pids = folder.pids();
  killed.signal('SIGKILL');
  await waitFor('all that it started to end', () => !pids.some(isAlive), 5_000);

  await using again = folder.start('--json');
  const ready = await again.logged('ready');
  const runs = await (await fetch(`${String(ready.url)}/api/runs`)).text();
  expect(runs).toContain('"name":"kept"');
}, 150_000);
