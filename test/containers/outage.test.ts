// The database away: stopped for a minute, and behind a cut network, which sends no reset.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { docker } from '../support/docker.ts';
import { checkNumbers, numbersWorkflow } from '../support/numbers.ts';
import { SERVICES, type Stack, startStack } from '../support/stack.ts';
import { waitFor } from '../support/wait-for.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
}, 180_000);
afterAll(() => stack[Symbol.asyncDispose](), 120_000);

test('stopped for 60 s and started', { timeout: 500_000 }, async () => {
  const before = await processes();
  await outlast(60, {
    cut: () => stack.compose('stop', 'postgres'),
    mend: () => stack.compose('start', 'postgres'),
  });
  expect(await processes()).toEqual(before);
});

test('behind a cut network for 30 s', { timeout: 400_000 }, async () => {
  const [postgres] = await stack.containers('postgres');
  const id = postgres?.Id ?? '';
  const before = await processes();
  await outlast(30, {
    cut: () => docker(['network', 'disconnect', stack.network, id]),
    mend: () => docker(['network', 'connect', '--alias', 'postgres', stack.network, id]),
  });
  expect(await processes()).toEqual(before);
});

interface Outage {
  cut: () => Promise<unknown>;
  mend: () => Promise<unknown>;
}

/** Checks that a run which prints before, during and after the outage ends right, and that all are healthy again. */
async function outlast(secs: number, { cut, mend }: Outage): Promise<void> {
  const runId = await stack.submit(numbersWorkflow({ pauseSecs: secs / 80 }));
  await waitFor('all parts to print', async () => {
    const { jobs } = await stack.run(runId);
    const parts = jobs.filter(({ job_id }) => job_id !== 'total');
    const logs = await Promise.all(parts.map(({ job_id }) => stack.logs(runId, job_id)));
    return logs.every(({ length }) => length > 0);
  });
  await cut();
  const over = performance.now() + secs * 1_000;
  await waitFor('the api to say so', async () => {
    const response = await fetch(`${stack.url}/api/runs`, {
      headers: { authorization: `Bearer ${stack.token}` },
      signal: AbortSignal.timeout(5_000),
    });
    return response.status === 503 && response.headers.has('retry-after');
  });
  await waitFor('the outage to last', () => performance.now() >= over, secs * 1_000 + 5_000);
  await mend();

  const run = await stack.ended(runId, 300_000);
  await checkNumbers(stack, run);
  for (const { job_id } of run.jobs) {
    const attempts = await stack.attempts(runId, job_id);
    expect(attempts.filter(({ outcome }) => outcome === 'completed')).toEqual(attempts.slice(-1));
  }
  await waitFor(
    'all to be healthy',
    async () => !/unhealthy|starting/.test(await stack.compose('ps')),
    60_000,
  );
}

/** That none was started again shows in here. */
async function processes() {
  const all = await stack.containers(...SERVICES);
  return all.map(({ Id, RestartCount, State }) => ({ Id, RestartCount, since: State.StartedAt }));
}
