// A chain of a thousand steps as a worker runs it, beside the same two statements in a loop on one connection: claim the
// step, finish it with the next. Prints both rates and their ratio; asserts that every step ran, never a time.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { claimJobs } from '@wfg/shared/queries/claim';
import { ClaimMemory } from '@wfg/shared/queries/claim-memory';
import { finishJobs } from '@wfg/shared/queries/finish';
import { startTask } from '@wfg/shared/sdk/sdk';
import type { Pool, PoolClient } from 'pg';
import { expect, test } from 'vitest';
import { testDatabase } from '../support/postgres.ts';
import { startService } from '../support/process.ts';
import { report } from '../support/report.ts';
import { counter } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';
import { reasonsOf, startHandlerWorker } from '../support/worker.ts';

const STEPS = 1_000;
const ROUNDS = 7;
const TASKS = fileURLToPath(new URL('../support/tasks.ts', import.meta.url));

test('a chain of a thousand steps, and a loop of bare SQL', { timeout: 600_000 }, async () => {
  await using database = await testDatabase();
  const { pool, url } = database;
  await using _ = startService('scheduler', { DATABASE_URL: url });
  await using worker = startHandlerWorker(url, { LOG_LEVEL: 'info' }, [TASKS]);
  await waitFor('it to be ready', async () => (await reasonsOf(worker)).length === 0);
  // Not counted: code and plans get warm.
  await chain(pool);
  await bare(pool);
  const chains: number[] = [];
  const bares: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { rate, steps } = await chain(pool);
    expect(steps).toBe(STEPS);
    chains.push(rate);
    bares.push(await bare(pool));
  }
  report('chained steps a second', chains, 0);
  report('claims and finishes a second, bare', bares, 0);
  const ratios = chains.map((rate, round) => rate / (bares[round] ?? Number.NaN));
  report('of the bare rate', ratios, 2);
});

/** Steps a second, from the first claim to the last report by the database's clock. */
async function chain(pool: Pool): Promise<{ rate: number; steps: number }> {
  const id = await startTask(pool, counter, { step: 'Proceed', state: { up_to: STEPS - 1, cur: 0 } });
  const took = await waitFor(
    'the chain to end',
    async () => {
      const { rows } = await pool.query<{ secs: number; steps: number }>(
        `select extract(epoch from h.finished_at - h.begun_at)::float8 as secs, h.attempt + 1 as steps
         from wfg_history h where h.run_id = $1`,
        [id],
      );
      return rows[0];
    },
    120_000,
  );
  return { rate: STEPS / took.secs, steps: took.steps };
}

/** The same statements with the same changes, of a task that no worker serves. */
async function bare(pool: Pool): Promise<number> {
  await pool.query(`select wfg_task('{"Bare":{"Proceed":{"up_to":999,"cur":0}}}')`);
  const client = await pool.connect();
  try {
    const start = performance.now();
    for (let step = 0; step < STEPS; step++) await oneStep(client, step);
    return STEPS / ((performance.now() - start) / 1_000);
  } finally {
    client.release();
  }
}

async function oneStep(client: PoolClient, step: number): Promise<void> {
  const request = {
    workerId: 'bare',
    instance: randomUUID(),
    labels: [':task Bare'],
    limit: 1,
    leaseSecs: 30,
    nonce: String(step + 1),
  };
  const [job] = await claimJobs(client, request, new ClaimMemory());
  if (!job) throw new Error('no step is due');
  const payload = { Bare: { Proceed: { up_to: STEPS - 1, cur: step + 1 } } };
  const next = step === STEPS - 1 ? null : { step: 'Proceed', payload, delay_secs: 0, at: null };
  const { run_id, position, attempt, nonce } = job;
  const lease = { run_id, position, attempt, nonce };
  const told = { outcome: 'completed', retryable: false, error: null, exit_code: null, outputs: {} } as const;
  const seal = { log_chunks: 0, log_lines: 0, log_bytes: 0 };
  const [answer] = await finishJobs(client, [{ ...lease, ...told, ...seal, next }]);
  if (answer?.answer !== 'applied') throw new Error(`not applied: ${answer?.answer}`);
}
