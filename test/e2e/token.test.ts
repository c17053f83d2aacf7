// The token on the command line: against an api that asks for it, and beside a `wfg up` that has it.
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { startCluster } from '../support/cluster.ts';
import { testDatabase } from '../support/postgres.ts';
import { startProcess } from '../support/process.ts';
import { CLI, runWfg } from '../support/wfg.ts';

const TOKEN = 'a-token-for-tests-1';
const OTHER = 'a-token-for-tests-2';
const WORKFLOW = "name: hello\njobs: { a: { run: 'echo hello; sleep 0.2; echo bye' } }\n";

test('commands show the token that they are given, and say what to do without', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database, { env: { WFG_ADMIN_TOKEN: TOKEN } });
  const url = `${cluster.url}/`;
  const run = (args: string[], env: Record<string, string>) => runWfg([...args, '--url', url], env, WORKFLOW);

  const followed = await run(['run', '-'], { WFG_TOKEN: TOKEN });
  expect(followed).toMatchObject({ code: 0, stderr: '' });
  expect(followed.stdout).toMatch(/hello[^]+bye/);
  const listed = await run(['--token', TOKEN, 'runs', '--json'], { WFG_TOKEN: OTHER });
  expect(JSON.parse(listed.stdout)).toMatchObject({ name: 'hello', status: 'completed' });
  const file = join(await mkdtemp(join(inject('runFolder'), 'token-')), 'token');
  await writeFile(file, `${TOKEN}\n`);
  expect(await run(['workers'], { WFG_TOKEN_FILE: file })).toMatchObject({ code: 0 });

  expect(await run(['run', '-'], {})).toEqual({
    code: 2,
    stdout: '',
    stderr: `wfg: ${url} asks for a token: set WFG_TOKEN, or WFG_TOKEN_FILE, or give --token\n`,
  });
  expect(await run(['runs'], { WFG_TOKEN: OTHER })).toEqual({
    code: 2,
    stdout: '',
    stderr: `wfg: ${url} refuses the token of WFG_TOKEN: it is wrong, or was replaced\n`,
  });
});

test('wfg up asks for the token of its environment, and no longer when that has none', async () => {
  const path = await mkdtemp(join(inject('runFolder'), 'up-'));
  const env = { WFG_DATA_DIR: path, WORKFLOWS_DIR: path, PORT: '0' };
  const start = (token: Record<string, string>) =>
    startProcess('up', [CLI, 'up', '--json'], { ...env, ...token });

  const weak = start({ WFG_ADMIN_TOKEN: 'weak' });
  expect((await weak.ended).code).toBe(2);
  expect(weak.logs.at(-1)?.msg).toContain('WFG_ADMIN_TOKEN must be 16 to 1,024 visible ASCII characters');

  const guarded = start({ WFG_ADMIN_TOKEN: TOKEN, HOST: '0.0.0.0' });
  const { url } = await guarded.logged('ready');
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await fetch(`${String(url)}/api/runs`)).status).toBe(401);
  const beside = await runWfg(['run', '-'], { ...env, WFG_ADMIN_TOKEN: TOKEN }, WORKFLOW);
  expect(beside).toMatchObject({ code: 0, stderr: '' });
  expect(await runWfg(['runs'], env)).toMatchObject({ code: 2 });
  // Only the api has it, and it is nowhere in the folder.
  const up = await readFile(join(path, 'up.json'), 'utf8');
  const pids = [...up.matchAll(/"pid":(\d+)/g)].map(([, pid]) => String(pid));
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8')));
  expect(environments.map((text) => text.includes(TOKEN))).toEqual([true, true, false, false, false, false]);
  expect(up).not.toContain(TOKEN);
  guarded.signal('SIGTERM');
  await guarded.ended;
  expect(JSON.stringify(guarded.logs)).not.toContain(TOKEN);

  await using open = start({});
  const again = await open.logged('ready');
  expect((await fetch(`${String(again.url)}/api/runs`)).status).toBe(200);
  expect(await runWfg(['runs'], env)).toMatchObject({ code: 0 });
}, 150_000);
