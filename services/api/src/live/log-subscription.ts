// A subscription to the log of one job: takes by itself what is stored behind its place, then has the job's feed push
// what comes. No gap and no duplicate, on any copy of the api.
import type { JobState } from '@wfg/shared/contract/job';
import type { Subscribe } from '@wfg/shared/contract/live';
import { comparePositions, type LogPosition, parseLogPosition } from '@wfg/shared/contract/log';
import { isEnded } from '@wfg/shared/rules/states';
import { startLoop } from '@wfg/shared/runtime/loop';
import type { Logger } from 'pino';
import type { Feeds } from './feeds.ts';
import type { LogFollower } from './log-feed.ts';
import { before, type LogEnd, type LogItem } from './log-pages.ts';
import type { Outlet } from './outlet.ts';
import { SharedFrame } from './shared-frame.ts';

export type LogSubscribe = Pick<Extract<Subscribe, { topic: 'logs' }>, 'run' | 'job' | 'attempt' | 'after'>;

interface Settings {
  log: Logger;
  feeds: Feeds;
}

/** Until it is disposed of: after its end it follows what is begun anew. */
export function subscribeLog(subscribe: LogSubscribe, outlet: Outlet, { log, feeds }: Settings): Disposable {
  const { run, job, attempt: pinned } = subscribe;
  const opened = feeds.openLog(run, job);
  const { feed } = opened;
  let place = startOf(subscribe);
  /** The attempt whose end was told. */
  let ended: number | null = null;

  const follower: LogFollower = {
    place: () => place,
    take(item) {
      if (comparePositions(item, place) <= 0) return true;
      if (!outlet.isFull() && !isBeyond(item)) {
        send(item);
        return true;
      }
      loop.wake();
      return false;
    },
    tell,
    miss: () => outlet.refuse('not_found', `there is no job ${job} in a run ${run}`),
  };
  const loop = startLoop({
    name: 'logs',
    log,
    step: async (signal) => ((await outlet.inTurn(() => readOn(signal))) ? 0 : Number.POSITIVE_INFINITY),
  });

  const isBeyond = ({ attempt }: LogItem) => attempt > (pinned ?? attempt);

  /** Sends what comes next. Whether it is still behind the feed. */
  async function readOn(signal: AbortSignal): Promise<boolean> {
    await outlet.room();
    if (signal.aborted) return false;
    // A page that others have read knows nothing of how the job stands, which the end of one attempt tells.
    const page = await (pinned === undefined ? feed.pages.share(place) : feed.pages.read(place));
    if (!page) {
      follower.miss();
      return false;
    }
    for (const item of page.items) {
      if (isBeyond(item)) {
        if (page.state) tellEnd(page.state, place.attempt, Math.max(0, place.sequence + 1));
        return false;
      }
      await outlet.room();
      send(item);
    }
    if (page.end) tell(page.end);
    const isDone = pinned !== undefined && ended !== null;
    return !signal.aborted && !isDone && (page.end === null || !feed.join(follower));
  }

  function send(item: LogItem): void {
    place = item;
    outlet.send(item.frame);
  }

  function tell({ state, attempt, sealed }: LogEnd): void {
    // Ended, and looked for behind its last attempt.
    if (isEnded(state) && sealed === null && attempt > 0) {
      outlet.refuse('not_found', `there is no attempt ${attempt} of job ${job} in run ${run}`);
      return;
    }
    const isOver = isEnded(state) || (attempt === pinned && sealed !== null);
    if (isOver) tellEnd(state, pinned ?? attempt, attempt === (pinned ?? attempt) ? (sealed ?? 0) : 0);
  }

  /** Once of each attempt: a job that has ended may be begun anew. */
  function tellEnd(state: JobState, attempt: number, chunks: number): void {
    if (attempt === ended) return;
    ended = attempt;
    outlet.send(new SharedFrame({ op: 'end', state, attempt, chunks }));
  }

  return {
    [Symbol.dispose]() {
      feed.leave(follower);
      opened[Symbol.dispose]();
      void loop[Symbol.asyncDispose]();
    },
  };
}

/** The place before the first that is sent. */
function startOf({ after, attempt = 0 }: LogSubscribe): LogPosition {
  return (after === undefined ? null : parseLogPosition(after)) ?? before(attempt);
}
