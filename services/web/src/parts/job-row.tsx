// One job of a run; choosing it shows its log.
import { type ReadonlySignal, useComputed } from '@preact/signals';
import type { Job } from '@wfg/shared/contract/job';
import type { JobCell } from '../live/run-model.ts';
import { plainText } from '../log/ansi.ts';
import { jobPath } from '../router.ts';
import { faceOfJob } from './face.ts';
import { Status } from './status.tsx';
import { Elapsed } from './time.tsx';

interface Props {
  /** Of the row in the whole table, from 1. */
  index: number;
  run: string;
  cell: JobCell;
  selected: ReadonlySignal<string | null>;
}

export function JobRow({ index, run, cell, selected }: Props) {
  const job = cell.value;
  const chosen = useComputed(() => selected.value === cell.peek().job_id).value;
  const remark = remarkOn(job);
  // Between two tries no time runs.
  const timed = job.state === 'active' || job.finished_at !== null;
  return (
    <tr class="linked" aria-rowindex={index} data-state={job.state} data-chosen={chosen ? '' : undefined}>
      <th scope="row" title={job.name}>
        <a class="row-link" href={jobPath(run, job.job_id)} aria-current={chosen ? 'true' : undefined}>
          {job.name}
        </a>
        {remark && <p class="remark">{remark}</p>}
      </th>
      <td>
        <Status face={faceOfJob(job)} />
      </td>
      <td class="figure" title={`Attempt ${job.attempt}`}>
        {job.tries}/{job.max_attempts}
      </td>
      <td class="figure">
        <Elapsed from={timed ? job.started_at : null} to={job.state === 'active' ? null : job.finished_at} />
      </td>
      <td class="job-worker">{job.worker_id ?? '–'}</td>
    </tr>
  );
}

/** What the job waits for, or what went wrong. */
function remarkOn(job: Job): string | null {
  if (job.waiting !== null) return job.waiting.detail;
  if (job.state === 'blocked') return `waits for ${job.depends_on.join(', ')}`;
  if (job.state === 'active') return null;
  return job.error && plainText(job.error);
}
