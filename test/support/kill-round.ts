// One run with numbered logs and a sum to get right, during which one process is killed at a random moment.
import type { Run } from '@wfg/shared/contract/run';
import { expect } from 'vitest';
import type { Cluster } from './cluster.ts';
import { commandLine, processesWith } from './left-processes.ts';
import type { ServiceName } from './process.ts';
import { waitFor } from './wait-for.ts';

const PARTS = 4;
const LINES = 120;
/** A killed worker's commands must be gone by then. */
const GONE_MS = 5_000;

const part = `i=0; sum=0
while [ $i -lt ${LINES} ]; do i=$((i+1)); sum=$((sum+i*FACTOR)); echo "line $i"; sleep 0.01; done
echo "sum=$sum" >> "$WFG_OUTPUT"`;

const WORKFLOW = {
  name: 'numbers',
  jobs: {
    ...Object.fromEntries(
      Array.from({ length: PARTS }, (_, index) => [
        `part-${index + 1}`,
        { run: part, env: { FACTOR: String(index + 1) }, retries: 2 },
      ]),
    ),
    total: {
      needs: Array.from({ length: PARTS }, (_, index) => `part-${index + 1}`),
      run: 'echo "::set-output total=$((WFG_OUT_PART_1_SUM+WFG_OUT_PART_2_SUM+WFG_OUT_PART_3_SUM+WFG_OUT_PART_4_SUM))"',
      retries: 2,
    },
  },
};

/** 1 + … + LINES, times 1 + … + PARTS. */
const TOTAL = String(((LINES * (LINES + 1)) / 2) * ((PARTS * (PARTS + 1)) / 2));

/**
 * Submits the run, waits until a job is seen active in its log, kills one process of the service `delayMs` later, and
 * checks that the run ends completed with the right sum and whole logs, and that nothing of a killed worker lives on.
 */
export async function killRound(cluster: Cluster, service: ServiceName, delayMs: number): Promise<Run> {
  const runId = await cluster.submit(WORKFLOW);
  const index = await waitFor('a job to print', async () => {
    const run = await cluster.run(runId);
    const active = run.jobs.find((job) => job.state === 'active');
    if (!active || (await cluster.logs(runId, active.job_id)).length === 0) return null;
    return { worker: Number(active.worker_id?.replace('worker-', '')) - 1 };
  });
  const until = performance.now() + delayMs;
  await waitFor('the moment to kill', () => performance.now() >= until);

  const victim = service === 'worker' ? index.worker : 0;
  const marks = [`WFG_RUN_ID=${runId}\0`, `WFG_WORKER_ID=worker-${victim + 1}\0`];
  const before = service === 'worker' ? processesWith(...marks) : [];
  await cluster.kill(service, victim);
  if (service === 'worker') {
    await waitFor(
      'the killed worker’s processes to end',
      () => {
        const left = processesWith(...marks).filter((pid) => before.includes(pid));
        if (left.length > 0) throw new Error(`alive: ${left.map(commandLine).join('; ')}`);
        return true;
      },
      GONE_MS,
    );
  }

  // The api itself may be the one that is not back yet.
  const run = await cluster.ended(runId);
  expect(run.status).toBe('completed');
  expect(await cluster.outputs(runId, 'total')).toEqual({ total: TOTAL });
  for (const job of run.jobs)
    if (job.job_id !== 'total') await checkLog(cluster, runId, job.job_id, job.attempt);
  return run;
}

/** Each attempt's log is lines 1..k, each once, in order; the last attempt's is whole. */
async function checkLog(cluster: Cluster, runId: string, jobId: string, last: number): Promise<void> {
  const chunks = await cluster.logs(runId, jobId);
  const whole = Array.from({ length: LINES }, (_, line) => `line ${line + 1}`);
  for (let attempt = 0; attempt <= last; attempt++) {
    const own = chunks.filter((chunk) => chunk.attempt === attempt);
    expect(own.map((chunk) => chunk.sequence)).toEqual(own.map((_, index) => index));
    const text = own.map((chunk) => chunk.data).join('');
    if (attempt === last) expect(text).toBe(`${whole.join('\n')}\n`);
    else expect(`${whole.join('\n')}\n`.startsWith(text)).toBe(true);
  }
}
