// One worker on a test database, whose scheduler is the test: what it makes of the jobs that it finds.
import { BELL_CHANNEL } from '@wfg/shared/contract/bell';
import { fileURLToPath } from 'node:url';
import type { JobState, Outcome } from '@wfg/shared/contract/job';
import type { Pool } from 'pg';
import { z } from 'zod';
import { isDeaf } from './deaf.ts';
import { startService, type TestProcess } from './process.ts';
import { waitFor } from './wait-for.ts';

interface WorkerView {
  state: JobState;
  attempt: number;
  tries: number;
  outcome: Outcome | null;
  error: string | null;
  outputs: Record<string, string> | null;
}

/** WFG_MODULES without a name. A module is a process more for each worker, so a test says when it needs one. */
export const NO_MODULES = ',';

/** A worker that runs commands, and handlers if WFG_MODULES is in `env`. */
export function startWorker(url: string, env: Record<string, string> = {}): TestProcess {
  const own = { DATABASE_URL: url, WORKER_ID: 'w1', WORKER_CONCURRENCY: '2', WFG_MODULES: NO_MODULES };
  return startService('worker', { ...own, ...env });
}

const HANDLERS = fileURLToPath(new URL('handlers.ts', import.meta.url));

/** A worker that runs the handlers of handlers.ts, or of other modules. */
export function startHandlerWorker(
  url: string,
  env: Record<string, string> = {},
  modules: string[] = [HANDLERS],
): TestProcess {
  const own = { DATABASE_URL: url, WORKER_ID: 'w1', WFG_MODULES: modules.join(',') || NO_MODULES };
  return startService('worker', { ...own, ...env });
}

/** A host that died again and again is started anew after a pause of up to 5 s. */
export const HOST_START_MS = 30_000;

/** The process that runs, or has run, an attempt of an event. */
export async function hostOf(worker: TestProcess, id: string, attempt = 0): Promise<number> {
  return waitFor(
    `attempt ${attempt} of ${id} to begin`,
    () => {
      const lines = worker.logs.filter(
        (line) => line.workflow_id === id && line.msg === 'Processing workflow',
      );
      return z.number().parse(lines[attempt]?.pid);
    },
    HOST_START_MS,
  );
}

/** A job as its row has it, once that is `ok`. */
export async function jobWhen(
  pool: Pool,
  run: string,
  job: string,
  ok: (job: WorkerView) => boolean,
  limitMs?: number,
): Promise<WorkerView> {
  const probe = async () => {
    const { rows } = await pool.query<WorkerView>(
      'select state, attempt, tries, outcome, error, outputs from wfg_jobs where run_id = $1 and job_id = $2',
      [run, job],
    );
    const [row] = rows;
    if (!row || !ok(row)) throw new Error(JSON.stringify(row));
    return row;
  };
  return waitFor(`job ${job}: ${String(ok)}`, probe, limitMs);
}

/** Sends what is given to the bell's channel; by default what makes everyone look. */
export async function ring(pool: Pool, payload = '{"v":1,"all":true}'): Promise<void> {
  await pool.query('select pg_notify($1, $2)', [BELL_CHANNEL, payload]);
}

const Ready = z.object({ reasons: z.array(z.string()) });

/** Said by all when no notification passes, which is no fault of theirs. */
const DEAF = /^listen: deaf/;

/** What /ready says against it. */
export async function reasonsOf(service: TestProcess): Promise<string[]> {
  const { health_port } = await service.logged('started');
  const response = await fetch(`http://127.0.0.1:${String(health_port)}/ready`);
  const { reasons } = Ready.parse(await response.json());
  return isDeaf ? reasons.filter((reason) => !DEAF.test(reason)) : reasons;
}

/** What it tells Prometheus of itself. */
export async function metricsOf(service: TestProcess): Promise<string> {
  const { health_port } = await service.logged('started');
  const response = await fetch(`http://127.0.0.1:${String(health_port)}/metrics`);
  if (!response.ok) throw new Error(`/metrics answers ${response.status}`);
  return response.text();
}
