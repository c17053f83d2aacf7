// What is done in a history, with everything that chance had to choose chosen; the same for the reference and the rows.
import type { Lease } from '@wfg/shared/contract/lease';
import type { Claimer, Job, Report } from './job.ts';
import type { Run } from './run.ts';

/** A lease that a claim gave out, whether its transaction was committed or not. */
export interface Grant extends Lease {
  job: string;
  by: Claimer;
  /** The day its log is stored under. */
  day: string;
}

export interface Told {
  grant: Grant;
  report: Report;
  /** Those it has printed. */
  chunks: number;
}

export type Act =
  | { do: 'claim'; by: Claimer; limit: number; nonce: string }
  | { do: 'renew'; grants: Grant[] }
  | { do: 'renew over HTTP'; grant: Grant }
  | { do: 'print'; grant: Grant; sequence: number }
  | { do: 'report'; told: Told[] }
  | { do: 'give up'; grants: Grant[]; error: string | null }
  | { do: 'reap'; limit: number }
  | { do: 'expire'; limit: number }
  | { do: 'cancel'; job: Job }
  | { do: 'cancel run'; run: Run; force: boolean }
  | { do: 'requeue'; job: Job }
  | { do: 'time out' }
  | { do: 'advance' };

export function grantText({ job, attempt, nonce, by }: Grant): string {
  return `${job}.${attempt}#${nonce} of ${by.worker_id}`;
}

/** The act in words. */
export function actText(act: Act): string {
  switch (act.do) {
    case 'claim':
      return `${act.by.worker_id} claims up to ${act.limit}`;
    case 'renew':
      return `renew ${act.grants.map(grantText).join(', ')}`;
    case 'renew over HTTP':
    case 'print':
      return `${act.do} ${grantText(act.grant)}`;
    case 'report':
      return act.told
        .map(({ grant, report }) => `report on ${grantText(grant)}: ${reportText(report)}`)
        .join('; ');
    case 'give up':
      return `give up ${act.grants.map(grantText).join(', ')} ${act.error === null ? 'as lost' : 'as failed'}`;
    case 'reap':
    case 'expire':
      return `${act.do} up to ${act.limit}`;
    case 'cancel':
    case 'requeue':
      return `${act.do} ${act.job.name}`;
    case 'cancel run':
      return `cancel run ${act.run.name}${act.force ? ' by force' : ''}`;
    default:
      return act.do;
  }
}

function reportText({ outcome, retryable, next, is_parked }: Report): string {
  if (next) return `${outcome}, then ${next.step} in ${next.delay_secs} s`;
  if (is_parked) return 'cannot be decoded';
  return outcome === 'failed' && !retryable ? 'failed for good' : outcome;
}
