// The embedded database: keeps its data, never outlives its owner, and is nobody else's.

import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@wfg/shared/runtime/embedded-postgres';
import { identifyProcess } from '@wfg/shared/runtime/process-identity';
import { Client } from 'pg';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startProcess } from '../support/process.ts';
import { waitFor } from '../support/wait-for.ts';

const log = pino({ level: 'silent' });
let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'wfg-embedded-'));
  await rm(dataDir, { recursive: true });
});
afterEach(async () => {
  await rm(dataDir, { recursive: true, force: true });
});

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function serverPid(): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, 'data', 'postmaster.pid'), 'utf8'), 10);
}

test('keeps its data, URL and password over a restart, and its user is no superuser', async () => {
  const first = await startEmbeddedPostgres({ dataDir, log });
  await query(first.url, 'create table kept (id int)');
  const rows = await query(
    first.url,
    `select rolsuper, current_setting('server_encoding') as encoding, current_setting('fsync') as fsync
     from pg_roles where rolname = current_user`,
  );
  expect(rows).toEqual([{ rolsuper: false, encoding: 'UTF8', fsync: 'on' }]);
  await first.stop();
  await first.ended;

  const second = await startEmbeddedPostgres({ dataDir, log });
  expect(second.url).toBe(first.url);
  expect(await query(second.url, 'table kept')).toEqual([]);
  expect((await stat(join(dataDir, 'password'))).mode & 0o777).toBe(0o600);
  await expect(startEmbeddedPostgres({ dataDir, log })).rejects.toThrow(`process ${process.pid} is using it`);
  await second.stop();
});

test('a killed owner takes its server along, and the next start has the data at once', async () => {
  const script = `
    import { startEmbeddedPostgres } from '@wfg/shared/runtime/embedded-postgres';
    import { pino } from 'pino';
    const log = pino();
    await startEmbeddedPostgres({ dataDir: process.argv[1], log });
    log.info('up');`;
  await using owner = startProcess('owner', ['--input-type=module', '--eval', script, dataDir], {});
  await owner.logged('up');
  const pid = await serverPid();
  owner.signal('SIGKILL');
  await owner.ended;

  const next = await startEmbeddedPostgres({ dataDir, log });
  expect(identifyProcess(pid)).toBeUndefined();
  expect(await query(next.url, 'select 1 as one')).toEqual([{ one: 1 }]);

  // The server itself killed: the next start recovers.
  process.kill(await serverPid(), 'SIGKILL');
  await next.ended;
  await next.stop();
  const recovered = await startEmbeddedPostgres({ dataDir, log });
  expect(await query(recovered.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  await recovered.stop();
});

test('a throwaway server leaves no files, also when its owner is killed', async () => {
  const script = `
    import { startEmbeddedPostgres } from '@wfg/shared/runtime/embedded-postgres';
    import { pino } from 'pino';
    const log = pino();
    await startEmbeddedPostgres({ throwaway: true, log });
    log.info('up');`;
  await mkdir(dataDir);
  // As /tmp is: the server's user removes its own folder.
  await chmod(dataDir, 0o1777);
  await using owner = startProcess('owner', ['--input-type=module', '--eval', script], { TMPDIR: dataDir });
  await owner.logged('up');
  expect(await readdir(dataDir)).toHaveLength(1);
  owner.signal('SIGKILL');
  await owner.ended;
  await waitFor('the files to go', async () => (await readdir(dataDir)).length === 0);
});
