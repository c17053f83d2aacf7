// The shipped pipelines on their real data, run by the command as a user would; their reports against other programs.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createPool } from '@wfg/shared/db/pool';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { startCluster } from '../support/cluster.ts';
import { compareFlights, compareWeather, vegaDataDir } from '../support/pipeline-check.ts';
import { testDatabase } from '../support/postgres.ts';

const WFG = fileURLToPath(new URL('../../services/cli/src/main.ts', import.meta.url));
const workflow = (name: string) => fileURLToPath(new URL(`../../workflows/${name}.yml`, import.meta.url));

test('wfg run prints live lines of both pipelines and exits 0, and their reports are right', {
  timeout: 180_000,
}, async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database, {
    counts: { worker: 2 },
    env: { LEASE_TTL_SECS: '30' },
  });
  const data = vegaDataDir();
  await using patient = createPoolOf(database.url);

  const weather = await wfgRun(cluster.url, workflow('weather'), data);
  expect(weather.text).toContain('year-2014');
  await compareWeather(patient.pool, await cluster.outputs(weather.runId, 'report'), data);

  const flights = await wfgRun(cluster.url, workflow('flights'), data);
  expect(flights.text).toMatch(/miles-1850 .*flights/);
  const outputs = await cluster.outputs(flights.runId, 'report');
  await compareFlights(patient.pool, outputs, data);
  await expect(compareFlights(patient.pool, { ...outputs, late: '1' }, data)).rejects.toThrow(/late: 1/);

  const run = await cluster.run(flights.runId);
  expect(run.jobs.map((job) => job.state)).toEqual(run.jobs.map(() => 'completed'));
});

test('a pipeline without its data fails after its retries, says what to do, and skips the rest', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database);
  const failed = execFileAsync(process.execPath, [WFG, 'run', workflow('weather'), '--url', cluster.url]);
  await expect(failed).rejects.toMatchObject({ code: 1, stdout: expect.stringContaining('--env DATA=') });
});

const execFileAsync = promisify(execFile);

async function wfgRun(url: string, file: string, data: string): Promise<{ text: string; runId: string }> {
  const args = [WFG, 'run', file, '--env', `DATA=${data}`, '--url', url];
  const { stdout } = await execFileAsync(process.execPath, args, { maxBuffer: 16 * 1024 * 1024 });
  const runId = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/.exec(stdout)?.[0];
  if (!runId) throw new Error(`no run id in: ${stdout.slice(0, 2000)}`);
  return { text: stdout, runId };
}

/** The SQL that reads the raw flights takes seconds. */
function createPoolOf(url: string) {
  const pool = createPool({ url, name: 'reference', queryTimeoutMs: 60_000, log: pino({ level: 'silent' }) });
  return { pool, [Symbol.asyncDispose]: () => pool.end() };
}
