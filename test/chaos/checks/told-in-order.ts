// Whoever followed a run saw it go forward only, saw it end once, and knows in the end what the rows say.
import type { RunStatus } from '@wfg/shared/contract/run';
import { isEnded } from '@wfg/shared/rules/states';
import { type History, isOver, type JobRow, jobOf, type Told } from '../history.ts';

export function toldInOrder({ told, jobs }: History): string[] {
  const rows = Map.groupBy(jobs, ({ run }) => run);
  return [...Map.groupBy(told, ({ run }) => run)].flatMap(([run, own]) =>
    runFaults(run, own, rows.get(run) ?? []),
  );
}

function runFaults(run: string, told: Told[], rows: JobRow[]): string[] {
  const faults: string[] = [];
  const known = new Map<string, Told['jobs'][number]>();
  let rev = 0;
  let status: RunStatus | null = null;
  for (const frame of told) {
    // A snapshot, after the connection was lost, may say again what is known.
    if (frame.rev < rev || (frame.rev === rev && frame.what !== 'snapshot'))
      faults.push(`${run}: told "${frame.what}" of rev ${frame.rev} after rev ${rev}`);
    if (status !== null && isOver(status) && frame.what !== 'snapshot')
      faults.push(`${run}: told "${frame.what}" after its end`);
    rev = frame.rev;
    status = frame.status ?? status;
    for (const job of frame.jobs) {
      const before = known.get(job.job);
      if (before && job.attempt < before.attempt)
        faults.push(`${run} ${job.job}: told of attempt ${job.attempt} after ${before.attempt}`);
      if (before && isEnded(before.state) && job.state !== before.state)
        faults.push(`${run} ${job.job}: told ${job.state} after ${before.state}`);
      known.set(job.job, job);
    }
  }
  if (status === null || !isOver(status)) faults.push(`${run}: its end was not told`);
  for (const row of rows) {
    const state = known.get(row.job)?.state;
    if (state !== row.state) faults.push(`${jobOf(row)}: is ${row.state}, and was told to be ${state}`);
  }
  return faults;
}
