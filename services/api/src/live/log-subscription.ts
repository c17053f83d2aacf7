// A subscription to the log of one job: reads by itself what is stored behind its place, then has the job's feed push what
// comes. No gap and no duplicate, on any copy of the api.
import type { Subscribe } from '@wfg/shared/contract/live';
import { comparePositions, type LogPosition, parseLogPosition } from '@wfg/shared/contract/log';
import { readAttempts } from '@wfg/shared/queries/attempts';
import { isEnded } from '@wfg/shared/rules/states';
import { startLoop } from '@wfg/shared/runtime/loop';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Feeds } from './feeds.ts';
import type { LogFollower, Told } from './log-feed.ts';
import { before, type LogItem, readItems } from './log-items.ts';
import type { Outlet } from './outlet.ts';
import { SharedFrame } from './shared-frame.ts';

export type LogSubscribe = Pick<Extract<Subscribe, { topic: 'logs' }>, 'run' | 'job' | 'attempt' | 'after'>;

interface Settings {
  pool: pg.Pool;
  log: Logger;
  feeds: Feeds;
}

/** Until it is disposed of: after its end it follows what is begun anew. */
export function subscribeLog(subscribe: LogSubscribe, outlet: Outlet, settings: Settings): Disposable {
  const { run, job, attempt: pinned } = subscribe;
  const { pool, log, feeds } = settings;
  const opened = feeds.openLog(run, job);
  let place = startOf(subscribe);
  /** The attempt whose end was told. */
  let ended: number | null = null;

  const follower: LogFollower = {
    place: () => place,
    take(item) {
      if (comparePositions(item, place) <= 0 || (pinned ?? item.attempt) !== item.attempt) return true;
      if (outlet.isFull()) {
        loop.wake();
        return false;
      }
      send(item);
      return true;
    },
    tell,
    miss: () => outlet.refuse('not_found', `there is no job ${job} in a run ${run}`),
  };
  const loop = startLoop({
    name: 'logs',
    log,
    step: async (signal) => ((await outlet.inTurn(() => readOn(signal))) ? 0 : Number.POSITIVE_INFINITY),
  });

  /** Sends a page of what is stored. Whether it is still behind. */
  async function readOn(signal: AbortSignal): Promise<boolean> {
    await outlet.room();
    if (signal.aborted) return false;
    const found = await feeds.inTurn(() => readAttempts(pool, run, job, { first: place.attempt }));
    if (!found) {
      follower.miss();
      return false;
    }
    for (const one of found.attempts.filter(({ attempt }) => (pinned ?? attempt) === attempt)) {
      const { items, more } = await feeds.inTurn(() => readItems(pool, found, one, place));
      for (const item of items) {
        await outlet.room();
        send(item);
      }
      if (more) return true;
      if (pinned !== undefined && one.sealed !== null) {
        tell({ state: found.state, attempt: pinned, sealed: one.sealed, isLast: false });
        return false;
      }
    }
    return !signal.aborted && !opened.feed.join(follower);
  }

  function send(item: LogItem): void {
    place = item;
    outlet.send(item.frame);
  }

  function tell({ state, attempt, sealed, isLast }: Told): void {
    const isOver = (isLast && isEnded(state)) || (attempt === pinned && sealed !== null);
    if (!isOver || attempt === ended) return;
    ended = attempt;
    const chunks = (pinned ?? attempt) === attempt ? (sealed ?? 0) : 0;
    outlet.send(new SharedFrame({ op: 'end', state, attempt, chunks }));
    // An attempt that has ended has nothing to come, unlike a job.
    if (pinned !== undefined) opened.feed.leave(follower);
  }

  return {
    [Symbol.dispose]() {
      opened.feed.leave(follower);
      opened[Symbol.dispose]();
      void loop[Symbol.asyncDispose]();
    },
  };
}

/** The place before the first that is sent. */
function startOf({ after, attempt = 0 }: LogSubscribe): LogPosition {
  return (after === undefined ? null : parseLogPosition(after)) ?? before(attempt);
}
