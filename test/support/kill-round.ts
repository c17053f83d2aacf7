// One run with numbered logs and a sum to get right, during which one process is killed at a random moment.
import type { Run } from '@wfg/shared/contract/run';
import { expect } from 'vitest';
import type { Cluster } from './cluster.ts';
import { newGate } from './gate.ts';
import { killWorker } from './kill-worker.ts';
import { checkNumbers, numbersWorkflow, textOf } from './numbers.ts';
import type { ServiceName } from './process.ts';
import { waitFor } from './wait-for.ts';

/** An attempt that was seen printing before the kill. */
interface Seen {
  jobId: string;
  attempt: number;
  worker: number;
  text: string;
}

/**
 * Submits the run, waits until a job is seen active in its log, kills one process of the service `delayMs` later, and
 * checks that the run ends completed with the right sum and whole logs, and that nothing of a killed worker lives on.
 */
export async function killRound(cluster: Cluster, service: ServiceName, delayMs: number): Promise<Run> {
  const gate = newGate();
  const runId = await cluster.submit(numbersWorkflow({ wait: gate.wait }));
  const seen = await waitFor('a job to print', () => findPrinting(cluster, runId));
  const until = performance.now() + delayMs;
  await waitFor('the moment to kill', () => performance.now() >= until);
  if (service === 'worker')
    expect(await killWorker(cluster, seen.worker, `WFG_RUN_ID=${runId}\0`)).toBeGreaterThan(0);
  else await cluster.kill(service, 0);
  await gate.open();

  // The api itself may be the one that is not back yet.
  const run = await cluster.ended(runId);
  await checkNumbers(cluster, run);
  // What was once seen is there for ever.
  const text = textOf(await cluster.logs(runId, seen.jobId), seen.attempt);
  expect(text.startsWith(seen.text)).toBe(true);
  const job = run.jobs.find(({ job_id }) => job_id === seen.jobId);
  if (service === 'worker') expect(job?.attempt).toBeGreaterThan(seen.attempt);
  return run;
}

async function findPrinting(cluster: Cluster, runId: string): Promise<Seen | null> {
  const active = (await cluster.run(runId)).jobs.find((job) => job.state === 'active');
  if (!active) return null;
  const text = textOf(await cluster.logs(runId, active.job_id), active.attempt);
  const worker = Number(active.worker_id?.replace('worker-', '')) - 1;
  return text === '' ? null : { jobId: active.job_id, attempt: active.attempt, worker, text };
}
