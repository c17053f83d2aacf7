// One run with numbered logs and a sum to get right, during which one process is killed at a random moment.
import type { LogChunk } from '@wfg/shared/contract/log';
import type { Run } from '@wfg/shared/contract/run';
import { expect } from 'vitest';
import type { Cluster } from './cluster.ts';
import { type Gate, newGate } from './gate.ts';
import { commandLine, processesWith } from './left-processes.ts';
import type { ServiceName } from './process.ts';
import { waitFor } from './wait-for.ts';

const PARTS = 4;
const LINES = 120;
/** A killed worker's commands must be gone by then. */
const GONE_MS = 5_000;

/** None ends before the kill: whatever is killed has something to lose. */
function workflow(gate: Gate) {
  const part = `i=0; sum=0
while [ $i -lt ${LINES} ]; do i=$((i+1)); sum=$((sum+i*FACTOR)); echo "line $i"; sleep 0.01; done
echo "sum=$sum" >> "$WFG_OUTPUT"
${gate.wait}`;
  const parts = Array.from({ length: PARTS }, (_, index) => `part-${index + 1}`);
  return {
    name: 'numbers',
    jobs: {
      ...Object.fromEntries(
        parts.map((id, index) => [id, { run: part, env: { FACTOR: String(index + 1) }, retries: 2 }]),
      ),
      total: {
        needs: parts,
        run: 'echo "::set-output total=$((WFG_OUT_PART_1_SUM+WFG_OUT_PART_2_SUM+WFG_OUT_PART_3_SUM+WFG_OUT_PART_4_SUM))"',
        retries: 2,
      },
    },
  };
}

/** 1 + … + LINES, times 1 + … + PARTS. */
const TOTAL = String(((LINES * (LINES + 1)) / 2) * ((PARTS * (PARTS + 1)) / 2));

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
  const runId = await cluster.submit(workflow(gate));
  const seen = await waitFor('a job to print', () => findPrinting(cluster, runId));
  const until = performance.now() + delayMs;
  await waitFor('the moment to kill', () => performance.now() >= until);
  if (service === 'worker') await killWorker(cluster, runId, seen.worker);
  else await cluster.kill(service, 0);
  await gate.open();

  // The api itself may be the one that is not back yet.
  const run = await cluster.ended(runId);
  expect(run.status).toBe('completed');
  expect(await cluster.outputs(runId, 'total')).toEqual({ total: TOTAL });
  for (const job of run.jobs) {
    if (job.job_id === 'total') continue;
    const chunks = await cluster.logs(runId, job.job_id);
    checkLog(chunks, job.attempt);
    if (job.job_id !== seen.jobId) continue;
    // What was once seen is there for ever.
    expect(textOf(chunks, seen.attempt).startsWith(seen.text)).toBe(true);
    if (service === 'worker') expect(job.attempt).toBeGreaterThan(seen.attempt);
  }
  return run;
}

async function findPrinting(cluster: Cluster, runId: string): Promise<Seen | null> {
  const active = (await cluster.run(runId)).jobs.find((job) => job.state === 'active');
  if (!active) return null;
  const text = textOf(await cluster.logs(runId, active.job_id), active.attempt);
  const worker = Number(active.worker_id?.replace('worker-', '')) - 1;
  return text === '' ? null : { jobId: active.job_id, attempt: active.attempt, worker, text };
}

async function killWorker(cluster: Cluster, runId: string, index: number): Promise<void> {
  const marks = [`WFG_RUN_ID=${runId}\0`, `WFG_WORKER_ID=worker-${index + 1}\0`];
  const before = processesWith(...marks);
  expect(before.length).toBeGreaterThan(0);
  await cluster.kill('worker', index);
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

/** Each attempt's log is lines 1..k, each once, in order; the last attempt's is whole. */
function checkLog(chunks: readonly LogChunk[], last: number): void {
  const whole = Array.from({ length: LINES }, (_, line) => `line ${line + 1}\n`).join('');
  for (let attempt = 0; attempt <= last; attempt++) {
    const own = chunks.filter((chunk) => chunk.attempt === attempt);
    expect(own.map((chunk) => chunk.sequence)).toEqual(own.map((_, index) => index));
    const text = textOf(chunks, attempt);
    if (attempt === last) expect(text).toBe(whole);
    else expect(whole.startsWith(text)).toBe(true);
  }
}

function textOf(chunks: readonly LogChunk[], attempt: number): string {
  return chunks
    .filter((chunk) => chunk.attempt === attempt)
    .map((chunk) => chunk.data)
    .join('');
}
