// Offers a load at a rate, as clients do that need an answer: each repeats its request under its key until it has one.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client } from '@wfg/shared/client/client';
import { UnreachableError, WfgApiError } from '@wfg/shared/client/errors';
import { cancelRun } from '@wfg/shared/contract/routes/runs';
import type { Item } from './history.ts';
import { ANSWER_MS, type Load } from './loads/load.ts';
import { type Plan, planOf } from './plan.ts';

export interface Accepted extends Item {
  at: number;
}

export interface Offering {
  load: Load;
  wfg: Client;
  trail: string;
  /** The number of the first; no number is given out twice. */
  first: number;
  perSec: number;
  /** How many at most. */
  count?: number;
  /** Called with the run of each. */
  onAccepted?: (run: string) => void;
  /** Ends it earlier. */
  until?: AbortSignal;
}

const CLIENTS = 16;
/** Who has the answer asks once more, each so many: the answer must be the same. */
const REPEAT_EACH = 5;
const MOST_PAUSE_MS = 300;

/** Resolves with all that was offered, all of it accepted. Who waits for an answer offers nothing else meanwhile. */
export async function offer({
  load,
  wfg,
  trail,
  first,
  perSec,
  count,
  onAccepted,
  until,
}: Offering): Promise<Accepted[]> {
  const accepted: Accepted[] = [];
  const cancels: Promise<void>[] = [];
  const end = first + (count ?? Number.POSITIVE_INFINITY);
  let next = first;
  let due = performance.now();

  const ask = (n: number) => answered(() => load.offer({ wfg, plan: planOf(n), trail, key: `item ${n}` }));

  /** Whoever is told that it has ended otherwise was too late. */
  async function cancel(item: Accepted, plan: Plan): Promise<void> {
    await sleep(plan.cancelMs ?? 0);
    const isCancelled = await answered(() =>
      wfg(cancelRun, { params: { run: item.run }, body: {}, timeoutMs: ANSWER_MS }).then(
        () => true,
        (error: unknown) => {
          if (error instanceof WfgApiError && error.code === 'conflict') return false;
          throw error;
        },
      ),
    );
    if (!isCancelled) return;
    const { state, jobs } = load.expected(plan, false);
    Object.assign(item, load.expected(plan, true), { late: { before: Date.now(), state, jobs } });
  }

  async function client(): Promise<void> {
    while (next < end) {
      const n = next++;
      // What could not be offered in time is not made up for: that would be more than the rate.
      due = Math.max(due + 1_000 / perSec, performance.now());
      await sleep(Math.max(0, due - performance.now()), undefined, { signal: until }).catch(() => undefined);
      if (until?.aborted) return;
      const plan = planOf(n);
      const item = { ...load.expected(plan, false), run: await ask(n), at: Date.now() };
      accepted.push(item);
      onAccepted?.(item.run);
      if (plan.cancelMs !== null) cancels.push(cancel(item, plan));
      if (n % REPEAT_EACH !== 0) continue;
      const again = await ask(n);
      if (again !== item.run)
        throw new Error(`item ${n} was accepted as ${item.run}, and when repeated as ${again}`);
    }
  }

  await Promise.all(Array.from({ length: CLIENTS }, client));
  await Promise.all(cancels);
  return accepted;
}

/** Asks until there is an answer. */
async function answered<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (!mayPass(error)) throw error;
    }
    await sleep(Math.random() * MOST_PAUSE_MS);
  }
}

/** Nobody was there, or who was there said that it passes. */
function mayPass(error: unknown): boolean {
  if (error instanceof UnreachableError) return true;
  return error instanceof WfgApiError && (error.passes || error.status === 409);
}
