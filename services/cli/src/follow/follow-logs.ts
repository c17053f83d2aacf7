// The logs of a run's jobs, each from its start to its end, a bounded number of them at once.
import type { LogPosition } from '@wfg/shared/contract/log';
import type { LiveClient, TopicFrame } from '../live-client.ts';
import type { RunView } from './run-view.ts';

/** Subscriptions at once; of more jobs than that the logs come one after another. */
const MAX_OPEN = 32;
/** So long after the run's end, and the last word about any log, the rest is given up. */
const PATIENCE_MS = 15_000;

interface FollowedLogs {
  /** The job has begun this attempt: its log is wanted, if it is not being followed already. */
  want: (job: string, attempt: number) => void;
  /** Whether the job's log is still to come to its end. */
  isOpen: (job: string) => boolean;
  /** Resolves when all wanted logs have ended, with those that did not in time. */
  drained: () => Promise<string[]>;
}

export function followLogs(
  live: LiveClient,
  run: string,
  view: Pick<RunView, 'log' | 'logBreak'>,
  onEnd: (job: string) => void,
): FollowedLogs {
  const queue = new Set<string>();
  const open = new Map<string, () => void>();
  const ended = new Map<string, number>();
  const positions = new Map<string, LogPosition>();
  let rest: { resolve: (late: string[]) => void; timer: NodeJS.Timeout } | undefined;

  function openMore(): void {
    for (const job of queue) {
      if (open.size >= MAX_OPEN) return;
      queue.delete(job);
      open.set(job, live.subscribe({ topic: () => topicOf(job), receive: (frame) => receive(job, frame) }));
    }
  }

  function topicOf(job: string) {
    const position = positions.get(job);
    const after = position && { after: `${position.attempt}:${position.sequence}` };
    return { topic: 'logs' as const, run, job, ...after };
  }

  function receive(job: string, frame: TopicFrame): void {
    rest?.timer.refresh();
    if (frame.op === 'log') {
      const last = positions.get(job);
      if (last && last.attempt !== frame.attempt) view.logBreak(job);
      positions.set(job, { attempt: frame.attempt, sequence: frame.sequence });
      view.log(job, frame);
    } else if (frame.op === 'end') {
      view.logBreak(job);
      ended.set(job, frame.attempt);
      open.get(job)?.();
      open.delete(job);
      onEnd(job);
      openMore();
      if (open.size === 0) rest?.resolve([]);
    }
  }

  return {
    want(job, attempt) {
      const last = ended.get(job);
      if (open.has(job) || (last !== undefined && last >= attempt)) return;
      queue.add(job);
      openMore();
    },
    isOpen: (job) => open.has(job) || queue.has(job),
    async drained() {
      if (open.size === 0) return [];
      const { promise, resolve } = Promise.withResolvers<string[]>();
      rest = { resolve, timer: setTimeout(() => resolve([...open.keys(), ...queue]), PATIENCE_MS) };
      const late = await promise;
      clearTimeout(rest.timer);
      return late;
    },
  };
}
