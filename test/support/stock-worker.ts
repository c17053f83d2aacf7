// workflow-graph's own worker, spoken to as it is, with all its faults: it never beats for itself, checks no answer but
// the claim's, says that cancels may be tried again, and works on when its lease is lost.
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/** Its defaults but the lease's time, divided so that tests need not wait for seconds. */
const POLL_MS = 200;
const BEAT_MS = 1_000;
const CANCEL_CHECK_MS = 200;
const LOG_BATCH_MS = 50;
const LEASE_TTL_SECS = 30;
const MAX_ERROR_CHARS = 4_096;

interface QueuedJob {
  job_id: string;
  workflow_id: string;
  command: string;
}

export interface StockWorker extends AsyncDisposable {
  /** What it said that was not taken, by the route's last word; it takes no notice itself. */
  refused: ReadonlySet<string>;
}

/** Starts one that takes a job after another. Disposal drops what it runs, as its Ctrl-C does. */
export function startStockWorker(url: string, workerId: string, labels: readonly string[] = []): StockWorker {
  const over = new AbortController();
  const running = new Set<ChildProcess>();
  const refused = new Set<string>();

  const pause = (ms: number) => sleep(ms, undefined, { signal: over.signal }).catch(() => undefined);

  /** Undefined for every kind of failure. */
  async function ask(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ ok: boolean; body: unknown } | undefined> {
    try {
      const response = await fetch(url + path, {
        method,
        ...(body !== undefined && {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
        signal: over.signal,
      });
      if (!response.ok) refused.add(path.slice(path.lastIndexOf('/') + 1));
      const text = await response.text();
      return { ok: response.ok, body: text === '' ? null : JSON.parse(text) };
    } catch {
      return undefined;
    }
  }

  async function work(): Promise<void> {
    await ask('POST', '/api/workers/register', { worker_id: workerId, labels });
    while (!over.signal.aborted) {
      const claim = { worker_id: workerId, labels, lease_ttl_secs: LEASE_TTL_SECS };
      const claimed = await ask('POST', '/api/jobs/claim', claim);
      if (claimed?.ok && claimed.body !== null) {
        const { job, lease } = Object(claimed.body);
        await execute(job, `/api/jobs/${lease.lease_id}`);
      } else await pause(POLL_MS);
    }
  }

  async function execute(job: QueuedJob, path: string): Promise<void> {
    const { workflow_id, job_id, command } = job;
    const done = new AbortController();
    const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child);
    let output = '';
    let sequence = 0;
    let batch: unknown[] = [];
    let cancelled = false;
    for (const stream of ['stdout', 'stderr'] as const) {
      let rest = '';
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const data = `${line}\n`;
          batch.push({ workflow_id, job_id, sequence: sequence++, data, timestamp_ms: Date.now(), stream });
        }
      });
    }

    async function every(ms: number, step: () => Promise<boolean>): Promise<void> {
      const signal = AbortSignal.any([done.signal, over.signal]);
      while (!signal.aborted) {
        await sleep(ms, undefined, { signal }).catch(() => undefined);
        if (!signal.aborted && !(await step())) return;
      }
    }

    async function pushLogs(): Promise<boolean> {
      const chunks = batch;
      batch = [];
      if (chunks.length > 0) await ask('POST', `${path}/logs`, { chunks });
      return true;
    }

    const beside = [
      every(LOG_BATCH_MS, pushLogs),
      every(BEAT_MS, async () => (await ask('POST', `${path}/heartbeat`))?.ok === true),
      every(CANCEL_CHECK_MS, async () => {
        const answer = await ask('GET', `/api/jobs/${workflow_id}/${job_id}/cancelled`);
        cancelled = answer?.body === true;
        if (cancelled) child.kill('SIGKILL');
        return !cancelled;
      }),
    ];
    const code = await new Promise<number | null>((resolve) => {
      child.once('exit', (status) =>
        cancelled ? resolve(null) : child.once('close', () => resolve(status)),
      );
    });
    done.abort();
    running.delete(child);
    await Promise.all(beside);
    if (cancelled) return void (await ask('POST', `${path}/fail`, { error: 'cancelled', retryable: true }));
    await pushLogs();
    if (code === 0) return void (await ask('POST', `${path}/complete`, { outputs: {} }));
    const text = output.slice(0, MAX_ERROR_CHARS);
    const error = code === null ? text : `exit code ${code}: ${text}`;
    await ask('POST', `${path}/fail`, { error, retryable: true });
  }

  const ended = work();
  return {
    refused,
    async [Symbol.asyncDispose]() {
      over.abort();
      for (const child of running) child.kill('SIGKILL');
      await ended;
    },
  };
}
