// The topic `logs`: everything a job has printed from the client's place on, then what it prints, then the end.
import type { Subscribe } from '@wfg/shared/contract/live';
import { type JobKey, jobKey } from '@wfg/shared/contract/job-key';
import { type LogPosition, parseLogPosition } from '@wfg/shared/contract/log';
import { type AttemptRow, readAttempts } from '@wfg/shared/queries/attempts';
import { readLog } from '@wfg/shared/queries/logs';
import { isEnded } from '@wfg/shared/rules/states';
import { type Topic, type TopicContext, TopicError } from './topic.ts';

/** Watched logs are read this often even if no bell is heard. */
const POLL_MS = 1000;

type LogSubscribe = Extract<Subscribe, { topic: 'logs' }>;

/** Follows the log of one job for the subscription, from `after` on: no gap, no duplicate, on any copy of the api. */
export function logTopic(subscribe: LogSubscribe, { pool, send, pollMs }: TopicContext): Topic {
  const { id, run, job, attempt: pinned } = subscribe;
  const cursor: LogPosition = startOf(subscribe);
  let announced = subscribe.after === undefined ? -1 : cursor.attempt;
  let key = '';
  let ended: number | null = null;

  async function step(): Promise<number | null> {
    const found = await readAttempts(pool, run, job, { first: cursor.attempt });
    if (!found) throw new TopicError('not_found', `there is no job ${job} in a run ${run}`);
    key = jobKey(found);
    const attempts = found.attempts.filter((one) => (pinned ?? one.attempt) === one.attempt);
    let last: AttemptRow | undefined;
    for (const attempt of attempts) {
      last = attempt;
      if (await follow(found, attempt)) return 0;
      if (attempt.sealed === null) return Math.min(pollMs(), POLL_MS);
    }
    const over = pinned === undefined ? isEnded(found.state) : last?.sealed != null || isEnded(found.state);
    if (!over) return Math.min(pollMs(), POLL_MS);
    const end = last?.attempt ?? 0;
    if (end !== ended)
      await send({ op: 'end', id, state: found.state, attempt: end, chunks: last?.sealed ?? 0 });
    ended = end;
    return null;
  }

  /** Sends a page of what is there of one attempt; returns whether there may be more. */
  async function follow({ run_id, position }: JobKey, attempt: AttemptRow): Promise<boolean> {
    if (attempt.attempt > cursor.attempt) {
      cursor.attempt = attempt.attempt;
      cursor.sequence = -1;
    }
    if (attempt.attempt > announced) {
      announced = attempt.attempt;
      await send({ op: 'attempt', id, attempt: attempt.attempt });
    }
    const { day, sealed } = attempt;
    if (sealed === 0) return false;
    const after = cursor.sequence;
    const place = { day, run_id, position, attempt: attempt.attempt, after, sealed };
    const { rows, more } = await readLog(pool, place);
    for (const { sequence, line, stream, at, data } of rows) {
      const timestamp_ms = at.getTime();
      await send({ op: 'log', id, attempt: attempt.attempt, sequence, line, stream, timestamp_ms, data });
      cursor.sequence = sequence;
    }
    return more;
  }

  return { step, restMs: () => 0, concerns: (bell) => bell.all === true || isAbout(bell.logs, bell.runs) };

  /** New rows of the log, or a change of the run: the job may have ended. */
  function isAbout(logs: string[] = [], runs: string[] = []): boolean {
    return logs.includes(key) || runs.includes(run);
  }
}

/** The place before the first chunk to send. */
function startOf({ after, attempt }: LogSubscribe): LogPosition {
  const place = after === undefined ? null : parseLogPosition(after);
  return place ?? { attempt: attempt ?? 0, sequence: -1 };
}
