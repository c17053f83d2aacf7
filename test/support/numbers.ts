// A run with numbered logs and a sum to get right, for tests that disturb it.
import type { LogChunk } from '@wfg/shared/contract/log';
import type { Run } from '@wfg/shared/contract/run';
import { expect } from 'vitest';
import type { Runs, Workflow } from './runs.ts';

const PARTS = ['part-1', 'part-2', 'part-3', 'part-4'];
const LINES = 120;
/** 1 + … + LINES, times 1 + … + 4. */
const TOTAL = String(((LINES * (LINES + 1)) / 2) * 10);

interface NumbersSettings {
  /** A command with which each part ends, to keep it from ending before it was disturbed. */
  wait?: string;
  /** Seconds from line to line. */
  pauseSecs?: number;
}

/** Four parts at once that print and add up numbers, and the total of their sums; each may be tried three times. */
export function numbersWorkflow({ wait = 'true', pauseSecs = 0.01 }: NumbersSettings): Workflow {
  const run = `i=0; sum=0
while [ $i -lt ${LINES} ]; do i=$((i+1)); sum=$((sum+i*FACTOR)); echo "line $i"; sleep ${pauseSecs}; done
echo "sum=$sum" >> "$WFG_OUTPUT"
${wait}`;
  const sums = PARTS.map((_, index) => `WFG_OUT_PART_${index + 1}_SUM`);
  return {
    name: 'numbers',
    jobs: {
      ...Object.fromEntries(
        PARTS.map((id, index) => [id, { run, env: { FACTOR: String(index + 1) }, retries: 2 }]),
      ),
      total: { needs: PARTS, run: `echo "::set-output total=$((${sums.join('+')}))"`, retries: 2 },
    },
  };
}

/** Checks that an ended run of it has completed with the right sum, and that its logs are whole. */
export async function checkNumbers(runs: Runs, run: Run): Promise<void> {
  expect(run.status).toBe('completed');
  expect(await runs.outputs(run.run_id, 'total')).toEqual({ total: TOTAL });
  for (const { job_id, attempt } of run.jobs) {
    if (job_id !== 'total') checkLog(await runs.logs(run.run_id, job_id), attempt);
  }
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

/** The output of one attempt. */
export function textOf(chunks: readonly LogChunk[], attempt: number): string {
  return chunks
    .filter((chunk) => chunk.attempt === attempt)
    .map((chunk) => chunk.data)
    .join('');
}
