// wfg schedules against an api and a scheduler.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, type TestApi } from '../support/api.ts';
import { moveClock } from '../support/engine.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { startService, type TestProcess } from '../support/process.ts';
import { isCaughtUp } from '../support/schedules.ts';
import { waitFor } from '../support/wait-for.ts';
import { runWfg } from '../support/wfg.ts';

let db: TestDatabase;
let api: TestApi;
let scheduler: TestProcess;

beforeAll(async () => {
  db = await testDatabase();
  scheduler = startService('scheduler', { DATABASE_URL: db.url });
  api = await startApi(db.url);
  await api.ask('PUT', '/api/workflows/w', { name: 'w', jobs: { a: { run: 'true' } } });
  await scheduler.logged('started');
});

afterAll(async () => {
  await Promise.all([api, scheduler].map((one) => one[Symbol.asyncDispose]()));
  await db[Symbol.asyncDispose]();
});

const wfg = (...args: string[]) => runWfg(['schedules', ...args], { WFG_URL: api.url });
const json = async (...args: string[]): Promise<unknown> => JSON.parse((await wfg(...args, '--json')).stdout);

test('a schedule is added, ticks, rests, is started by hand and removed', async () => {
  const event = ['--event', 't', '--payload', '[1]', '--timezone', 'Asia/Tokyo', '--catch-up', 'all'];
  const [added, other] = await Promise.all([
    wfg('add', 'hourly', '--cron', '@hourly', '--workflow', 'w', '--env', 'A=1'),
    json('add', '--cron', '@daily', ...event),
  ]);
  expect(added.stdout).toMatch(/^added hourly: its first tick is at \S+:00:00.000Z\n$/);
  expect(other).toMatchObject({
    workflow_type: 't',
    payload: [1],
    timezone: 'Asia/Tokyo',
    catch_up: 'all',
  });
  await moveClock(db.pool, '61 min');
  await waitFor('the tick', () => isCaughtUp(db.pool));
  const [list, shown, run] = await Promise.all([wfg(), json('show', 'hourly'), wfg('run', 'hourly')]);
  expect(list.stdout).toMatch(/^hourly +@hourly +UTC +workflow w +in \d+ \w+ +\d+ \w+ ago +-$/m);
  expect(shown).toMatchObject({ id: 'hourly', env: { A: '1' }, ticks: [{ outcome: 'fired' }] });
  expect(await api.ask('GET', `/api/runs/${run.stdout.trimEnd()}`)).toMatchObject({ status: 200 });
  expect(await wfg('pause', 'hourly')).toMatchObject({ stdout: 'paused hourly\n' });
  expect((await wfg('resume', 'hourly')).stdout).toContain('resumed hourly: its next tick is at ');
  expect(await wfg('remove', 'hourly')).toMatchObject({ code: 0, stdout: 'removed hourly\n' });
});

test('what is wrong is refused in words', async () => {
  const [none, odd] = await Promise.all([
    wfg('stop', 'a'),
    wfg('add', '--cron', '0 0 30 2 *', '--event', 't'),
  ]);
  expect(none).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('there is no "wfg schedules stop"'),
  });
  expect(odd).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('is no schedule: it never comes'),
  });
});
