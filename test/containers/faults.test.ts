// What happens to containers: a process killed in one, and one that stands still until its leases have run out.
import type { Run } from '@wfg/shared/contract/run';
import { listWorkers } from '@wfg/shared/contract/routes/workers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { docker } from '../support/docker.ts';
import { checkNumbers, numbersWorkflow, textOf } from '../support/numbers.ts';
import { SERVICES, type Stack, startStack } from '../support/stack.ts';
import { waitFor } from '../support/wait-for.ts';

/** One worker alone can run all parts. */
const PLACES = 4;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({
    env: {
      LEASE_TTL_SECS: '5',
      REAP_INTERVAL_SECS: '1',
      LOG_LEVEL: 'debug',
      WORKER_CONCURRENCY: String(PLACES),
    },
  });
}, 180_000);
afterAll(() => stack[Symbol.asyncDispose](), 120_000);

/** The main process of the worker, not its init nor its children. */
const KILL_WORKER = `
for folder in /proc/[0-9]*; do
  if [ "$(tr '\\0' ' ' < $folder/cmdline)" = 'node services/worker/src/main.ts ' ]; then kill -9 \${folder#/proc/}; fi
done`;

test('kill -9 of the worker’s process: the container starts again, its jobs run again, and no other', async () => {
  const gate = stack.newGate();
  const runId = await stack.submit(numbersWorkflow({ wait: gate.wait }));
  const before = await allActive(runId);
  const victim = before.jobs[0]?.worker_id ?? '';
  const container = await stack.containerOf(victim);
  // What it was started by is killed with the container.
  await stack.sh(container, KILL_WORKER).catch(() => undefined);
  await waitFor('the container to start again', async () => {
    const now = (await stack.containers('worker')).find(({ Id }) => Id === container.Id);
    return now?.RestartCount === 1 && now.State.Status === 'running';
  });
  await gate.open();

  const run = await stack.ended(runId);
  await checkNumbers(stack, run);
  for (const job of before.jobs.filter(({ worker_id }) => worker_id !== null)) {
    const outcomes = (await stack.attempts(runId, job.job_id)).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(job.worker_id === victim ? ['lost', 'completed'] : ['completed']);
  }
  expect(await restarts()).toBe(1);
});

test('a worker that is paused past its leases: its jobs end elsewhere, once, and its late results are refused', async () => {
  const gate = stack.newGate();
  const runId = await stack.submit(numbersWorkflow({ wait: gate.wait }));
  const before = await allActive(runId);
  const victim = before.jobs[0]?.worker_id ?? '';
  const container = await stack.containerOf(victim);
  const known = await restarts();
  // An engine may fail to freeze what is just starting processes.
  await waitFor('the worker to be paused', async () => {
    await docker(['pause', container.Id]);
    return true;
  });
  const own = before.jobs.filter(({ worker_id }) => worker_id === victim).map(({ job_id }) => job_id);
  await waitFor(
    'another to run its jobs',
    async () => {
      const { jobs } = await stack.run(runId);
      const moved = jobs.filter(({ job_id, attempt }) => own.includes(job_id) && attempt === 1);
      return moved.length === own.length && moved.every(({ worker_id }) => worker_id !== victim);
    },
    60_000,
  );
  await gate.open();
  const run = await stack.ended(runId);
  await checkNumbers(stack, run);
  const logs = await firstLogs(runId, own);

  await docker(['unpause', container.Id]);
  await waitFor('its late results to be refused', async () => {
    const lines = await stack.log(container);
    const refused = lines.filter(
      ({ run_id, msg, answer }) =>
        run_id === runId && (answer === 'lost' || String(msg).startsWith('lease lost')),
    );
    return refused.length === own.length;
  });
  expect(await stack.run(runId)).toEqual(run);
  expect(await firstLogs(runId, own)).toEqual(logs);
  await checkNumbers(stack, run);
  for (const job of own) {
    expect(await stack.attempts(runId, job)).toMatchObject([{ outcome: 'lost' }, { outcome: 'completed' }]);
  }

  // It goes on as if nothing had been.
  await waitFor('the worker to be free', async () =>
    (await stack.wfg(listWorkers)).some(({ worker_id, status }) => worker_id === victim && status === 'idle'),
  );
  const next = stack.newGate();
  // As many parts as there are places.
  const more = [0, 1].map(() => stack.submit(numbersWorkflow({ wait: next.wait })));
  const running = await Promise.all(more.map(async (id) => allActive(await id)));
  const busy = running.flatMap(({ jobs }) => jobs.map(({ worker_id }) => worker_id));
  expect(busy.filter((id) => id === victim)).toHaveLength(PLACES);
  await next.open();
  for (const { run_id } of running) await checkNumbers(stack, await stack.ended(run_id));
  expect(await restarts()).toBe(known);
});

/** The run when all its parts run and have printed. */
async function allActive(runId: string): Promise<Run> {
  return waitFor('all parts to run', async () => {
    const run = await stack.run(runId);
    const parts = run.jobs.filter(({ job_id }) => job_id !== 'total');
    const printed = await Promise.all(parts.map(({ job_id }) => stack.logs(runId, job_id)));
    return parts.every(({ state }) => state === 'active') && printed.every(({ length }) => length > 0) && run;
  });
}

async function firstLogs(runId: string, jobs: string[]): Promise<string[]> {
  return Promise.all(jobs.map(async (job) => textOf(await stack.logs(runId, job), 0)));
}

async function restarts(): Promise<number> {
  const all = await stack.containers(...SERVICES);
  return all.reduce((sum, { RestartCount }) => sum + RestartCount, 0);
}
