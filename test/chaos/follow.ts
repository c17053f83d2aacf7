// Follows some runs as viewers do, over one WebSocket that connects again when it was lost.
import { connectLive, type TopicFrame } from '../../services/cli/src/live-client.ts';
import { isOver, type Told } from './history.ts';

/** A socket has room for more; this is enough to see. */
const MOST = 30;

export interface Following extends Disposable {
  /** Follows a run, unless enough others are. */
  follow: (run: string) => void;
  /** What was told so far, in order. */
  told: Told[];
}

export function followRuns(url: string): Following {
  const live = connectLive({ base: new URL(`${url}/`), token: undefined }, () => undefined);
  const told: Told[] = [];
  let followed = 0;
  return {
    told,
    follow(run) {
      if (followed++ >= MOST) return;
      live.subscribe({
        topic: () => ({ topic: 'run', run }),
        receive: (frame) => told.push(...toldBy(run, frame)),
      });
    },
    [Symbol.dispose]: live.close,
  };
}

function toldBy(run: string, frame: TopicFrame): Told[] {
  if (frame.op === 'snapshot' && 'run' in frame) {
    const { rev, status, jobs } = frame.run;
    const states = jobs.map(({ job_id, state, attempt }) => ({ job: job_id, state, attempt }));
    return [{ run, rev, what: 'snapshot', status, jobs: states }];
  }
  if (frame.op !== 'event') return [];
  const { event } = frame;
  const status = event.type === 'run_finished' ? event.status : null;
  const jobs = 'job' in event ? [{ job: event.job_id, state: event.job.state, attempt: event.attempt }] : [];
  return [{ run, rev: event.rev, what: event.type, status, jobs }];
}

/** The runs of which nobody was told the end. */
export function unfinished(told: readonly Told[]): string[] {
  const ended = new Set(told.filter(({ status }) => status !== null && isOver(status)).map(({ run }) => run));
  return [...new Set(told.map(({ run }) => run))].filter((run) => !ended.has(run));
}
