// Does an act with the very functions that the processes call, and answers in the words of the reference.
import { randomUUID } from 'node:crypto';
import type { Queryable } from '@wfg/shared/db/pool';
import { cancelJob, cancelRuns } from '@wfg/shared/queries/cancel';
import { claimJobs } from '@wfg/shared/queries/claim';
import { ClaimMemory } from '@wfg/shared/queries/claim-memory';
import { expireJobs, timeOutRuns } from '@wfg/shared/queries/expire';
import { type Finished, finishJobs, type Result } from '@wfg/shared/queries/finish';
import { renewForeign } from '@wfg/shared/queries/foreign-leases';
import { renewLeases } from '@wfg/shared/queries/leases';
import { appendLogs, type LogRow } from '@wfg/shared/queries/logs';
import { reapExpired, surrenderLeases } from '@wfg/shared/queries/reap';
import { requeueJob } from '@wfg/shared/queries/requeue';
import type { Act, Told } from './act.ts';
import { listed } from './predict.ts';
import { EVENT, stepPayload, TASK } from './subject.ts';

const LABELS = [':command', `:event ${EVENT}`, `:task ${TASK}`];

/** The name of a run, or of a job in it, by which histories speak of it. */
export type NameOf = (run_id: string, job_id?: string) => string;

/** An act that is in a transaction, or needs none. */
export async function perform(db: Queryable, act: Act, nameOf: NameOf): Promise<string> {
  switch (act.do) {
    case 'claim': {
      const { worker_id, is_foreign, lease_secs } = act.by;
      const instance = is_foreign ? null : randomUUID();
      const asked = { limit: act.limit, nonce: act.nonce, leaseSecs: lease_secs };
      const request = { ...asked, workerId: worker_id, instance, labels: LABELS };
      const claimed = await claimJobs(db, request, new ClaimMemory());
      return listed(claimed.map((job) => `${nameOf(job.run_id, job.job_id)}.${job.attempt}`));
    }
    case 'renew':
      return listed((await renewLeases(db, act.grants)).map((one) => (one.held ? heldText(one) : 'lost')));
    case 'renew over HTTP': {
      const renewed = await renewForeign(db, act.grant);
      return renewed ? heldText(renewed) : 'lost';
    }
    case 'print': {
      const { grant, sequence } = act;
      const [held] = await appendLogs(db, [{ lease: grant, day: grant.day, rows: [chunk(sequence)] }]);
      return held === true ? 'stored' : 'lost';
    }
    case 'report':
      return listed((await finishJobs(db, act.told.map(resultOf))).map(answerText));
    case 'give up': {
      const attempts = act.grants.map((grant) => ({ ...grant, error: act.error }));
      const { taken, busy } = await surrenderLeases(db, attempts, 'its process died');
      return listed([...ends(taken), ...busy.map(({ job }) => `${job} busy`)].sort());
    }
    case 'reap':
      return listed(ends(await reapExpired(db, act.limit)).sort());
    case 'expire':
      return listed(
        ends((await expireJobs(db, act.limit)).map((job) => ({ ...job, state: 'failed' }))).sort(),
      );
    case 'cancel':
      return (await cancelJob(db, act.job.run_id, act.job.role ?? 'main')) ?? 'nothing';
    case 'cancel run':
      return (await cancelRuns(db, [act.run.id], act.force)).length > 0 ? 'asked' : 'nothing';
    case 'requeue':
      return (await requeueJob(db, act.job.run_id)) === null ? 'nothing' : 'requeued';
    case 'time out':
      return listed((await timeOutRuns(db, 10)).map((run) => nameOf(run)).sort());
    default:
      throw new Error('a scheduler has transactions of its own');
  }

  function ends(jobs: { run_id: string; job_id: string; state: string }[]): string[] {
    return jobs.map(({ run_id, job_id, state }) => `${nameOf(run_id, job_id)} ${state}`);
  }
}

function heldText({ cancelled }: { cancelled: boolean }): string {
  return cancelled ? 'held, to be cancelled' : 'held';
}

function answerText({ answer, state, lane }: Finished): string {
  return `${answer}, ${state ?? 'gone'}${lane === null ? '' : ' and due'}`;
}

function chunk(sequence: number): LogRow {
  const lines = sequence + 1;
  return { sequence, line: lines, lines, bytes: 2 * lines, at: new Date(0), stream: 'stdout', data: 'x\n' };
}

function resultOf({ grant, report, chunks }: Told): Result {
  const { outcome, retryable, error, outputs, is_parked, next } = report;
  return {
    ...grant,
    outcome,
    retryable,
    error,
    is_parked,
    exit_code: null,
    outputs: outputs === null ? null : { by: outputs },
    log_chunks: chunks,
    log_lines: chunks,
    log_bytes: 2 * chunks,
    next: next && { step: next.step, payload: stepPayload(next.step), delay_secs: next.delay_secs, at: null },
  };
}
