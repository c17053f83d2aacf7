// The stack as it is shipped: what its containers may, the pipelines on it, what commands see, more workers, and its end.
import { listWorkers } from '@wfg/shared/contract/routes/workers';
import { startRun } from '@wfg/shared/contract/routes/workflow-runs';
import { createPool } from '@wfg/shared/db/pool';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { textOf } from '../support/numbers.ts';
import { compareFlights, compareWeather, vegaDataDir } from '../support/pipeline-check.ts';
import { DATA, SERVICES, type Stack, startStack } from '../support/stack.ts';
import { waitFor } from '../support/wait-for.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
}, 180_000);
afterAll(() => stack[Symbol.asyncDispose](), 120_000);

test('nothing in it is root, has a capability, can gain one, or can change its image', async () => {
  for (const container of await stack.containers(...SERVICES)) {
    expect(container).toMatchObject({
      State: { Status: 'running' },
      RestartCount: 0,
      Config: { User: '1000:1000' },
      HostConfig: { ReadonlyRootfs: true, Privileged: false },
    });
    const status = await stack.sh(container, 'cat /proc/1/status');
    expect(status).toMatch(/^Name:\ttini$/m);
    expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
    expect(status).toMatch(/^CapBnd:\t0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    await expect(stack.sh(container, 'touch /app/services')).rejects.toThrow('Read-only file system');
  }
});

test('only the api can be reached, and asks for the token', async () => {
  const ports = await stack.compose('ps', '--format', '{{.Service}} {{.Ports}}', ...SERVICES);
  const published = ports.split('\n').filter((line) => line.includes('->'));
  expect(published).toEqual([expect.stringMatching(/^api 127\.0\.0\.1:\d+->3000\/tcp$/)]);
  expect((await fetch(`${stack.url}/api/runs`)).status).toBe(401);
  expect(await (await fetch(stack.url)).text()).toContain('<script type="module"');
});

test('both pipelines report what their data says', { timeout: 600_000 }, async () => {
  // The SQL that reads the raw flights takes seconds.
  const settings = { name: 'reference', queryTimeoutMs: 60_000, log: pino({ level: 'silent' }) };
  const pool = createPool({ url: stack.databaseUrl, ...settings });
  try {
    for (const [id, compare] of [
      ['weather', compareWeather],
      ['flights', compareFlights],
    ] as const) {
      // From the folder that is mounted into the api.
      const { run_id } = await stack.wfg(startRun, { params: { id }, body: { env: { DATA } } });
      expect((await stack.ended(run_id, 300_000)).status).toBe('completed');
      await compare(pool, await stack.outputs(run_id, 'report'), vegaDataDir());
    }
  } finally {
    await pool.end();
  }
});

test('commands can read no secret, can run what they write, and leave nothing', async () => {
  const run = `
    env; ls /run/secrets
    for file in /run/secrets/* /proc/1/root/run/secrets/* /proc/[0-9]*/environ; do tr '\\0' '\\n' < "$file"; done
    printf '#!/bin/sh\\necho executed\\n' > script; chmod +x script; ./script; npm --version > "$HOME/file"`;
  const runId = await stack.submit({ name: 'look', jobs: { look: { run } } });
  expect((await stack.ended(runId)).status).toBe('completed');
  const text = textOf(await stack.logs(runId, 'look'), 0);
  expect(text).toContain('\ndatabase_url\n');
  expect(text).toContain('cannot open /run/secrets/database_url: Permission denied');
  expect(text).toContain('cannot open /proc/1/environ: Permission denied');
  expect(text).not.toMatch(/postgres:\/\/|DATABASE_URL/);
  expect(text).not.toContain(stack.token);
  // What was printed to stderr may come before or after it.
  expect(text).toMatch(/\nexecuted\n/);
  for (const worker of await stack.containers('worker')) {
    expect(await stack.sh(worker, 'ls -A /tmp/wfg-worker-*')).not.toContain('job-');
  }
});

test('what a command leaves behind is reaped when it ends: no zombie stays', async () => {
  // A zombie can still be sent a signal.
  const run = `
    for n in $(seq 20); do (setsid sleep 0.2 > /dev/null 2>&1 & echo $!); done > pids
    for pid in $(cat pids); do while kill -0 "$pid" 2> /dev/null; do sleep 0.1; done; done
    wc -l < pids`;
  const runId = await stack.submit({ name: 'orphans', jobs: { orphans: { run, timeout: 30 } } });
  expect((await stack.ended(runId)).status).toBe('completed');
  expect(textOf(await stack.logs(runId, 'orphans'), 0)).toBe('20\n');
  for (const container of await stack.containers(...SERVICES))
    expect(await stack.sh(container, 'cat /proc/[0-9]*/status')).not.toMatch(/^State:\tZ/m);
});

test('more workers take their share', async () => {
  await stack.compose('up', '-d', '--wait', '--no-build', '--no-recreate', '--scale', 'worker=4');
  const workers = await waitFor('four workers', async () => {
    const live = await stack.wfg(listWorkers);
    return live.length === 4 && live;
  });
  const places = workers.reduce((sum, { concurrency }) => sum + concurrency, 0);
  const gate = stack.newGate();
  const jobs = Array.from({ length: places }, (_, index) => [`job-${index}`, { run: gate.wait }] as const);
  const runId = await stack.submit({ name: 'wide', jobs: Object.fromEntries(jobs) });
  const active = await waitFor('all jobs at once', async () => {
    const run = await stack.run(runId);
    return run.jobs.every(({ state }) => state === 'active') && run.jobs;
  });
  expect(new Set(active.map(({ worker_id }) => worker_id)).size).toBe(4);
  await gate.open();
  expect((await stack.ended(runId)).status).toBe('completed');
});

test('a stop lets jobs finish, hands back what does not, and ends every process by itself', async () => {
  const gate = stack.newGate();
  const runId = await stack.submit({
    name: 'stop',
    jobs: {
      short: { run: `${gate.wait}; echo "::set-output done=yes"` },
      // No grace is long enough for it, nor does it heed SIGTERM.
      long: { run: `trap '' TERM; until test "$WFG_ATTEMPT" = 1; do sleep 0.1; done` },
    },
  });
  await waitFor('both to run', async () =>
    (await stack.run(runId)).jobs.every(({ state }) => state === 'active'),
  );
  const stopped = stack.compose('stop');
  await waitFor('the workers to drain', async () => {
    const lines = (await Promise.all((await stack.containers('worker')).map(stack.log))).flat();
    return lines.some(({ msg }) => msg === 'waiting for running jobs to finish');
  });
  await gate.open();
  await stopped;
  for (const { State, Config } of await stack.containers(...SERVICES, 'migrate', 'postgres')) {
    expect([Config.Image, State]).toMatchObject([Config.Image, { Status: 'exited', ExitCode: 0 }]);
  }

  await stack.compose('up', '-d', '--wait', '--no-build', '--no-recreate', '--scale', 'worker=4');
  const { jobs } = await stack.ended(runId);
  expect(jobs).toMatchObject([
    { job_id: 'short', state: 'completed', attempt: 0 },
    { job_id: 'long', state: 'completed', attempt: 1, tries: 1 },
  ]);
  expect(await stack.attempts(runId, 'long')).toMatchObject([
    { outcome: 'handed_back' },
    { outcome: 'completed' },
  ]);
  expect(await stack.outputs(runId, 'short')).toEqual({ done: 'yes' });
});
