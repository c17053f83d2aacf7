// Many workers in this very process, to see which of them look: what they count of themselves is counted for all together.
import { claimsMade } from '@wfg/shared/runtime/counters';
import { parseEnv } from '@wfg/shared/runtime/env';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { workerFields } from '../../services/worker/src/config.ts';
import { startWorker } from '../../services/worker/src/worker.ts';
import { waitFor } from './wait-for.ts';
import { NO_MODULES } from './worker.ts';

/** Started at once: each opens connections of its own for a moment. */
const AT_ONCE = 5;
/** Until each worker knows all the others: two beats. */
const KNOWN_MS = 40_000;

const log = pino({ level: 'silent' });

/** Starts `count` workers of one place each, which know each other when this resolves, and have looked. */
export async function startCrowd(
  url: string,
  pool: Pool,
  count: number,
  env: Record<string, string> = {},
): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  for (let first = 0; first < count; first += AT_ONCE) {
    const names = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, i) => `w${first + i}`);
    await Promise.all(
      names.map(async (name) => {
        const own = { DATABASE_URL: url, WORKER_ID: name, WORKER_CONCURRENCY: '1', WFG_MODULES: NO_MODULES };
        const config = parseEnv(workerFields, { ...own, ...env });
        const worker = await startWorker({
          config,
          log,
          stopping: new AbortController().signal,
          onWait: () => undefined,
        });
        stack.use(worker);
        await waitFor(`${name} to be ready`, () => worker.reasons().length === 0);
      }),
    );
  }
  const { rows } = await pool.query<{ now: Date }>('select wfg_now() as now');
  await waitFor(
    'all to have beaten since',
    async () => {
      const found = await pool.query<{ count: number }>(
        'select count(*) as count from wfg_workers where last_heartbeat > $1',
        [rows[0]?.now],
      );
      return found.rows[0]?.count === count;
    },
    KNOWN_MS,
  );
  const owned = stack.move();
  return { [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** How many claims there were in this process, for a reason or for any. */
export async function claimsSoFar(labels: { why?: string; found?: string } = {}): Promise<number> {
  const { values } = await claimsMade.get();
  return values
    .filter(({ labels: { why, found } }) => (labels.why ?? why) === why && (labels.found ?? found) === found)
    .reduce((sum, { value }) => sum + value, 0);
}
