// What is known about a job, above its log.
import type { Job } from '@wfg/shared/contract/job';
import type { ComponentChildren } from 'preact';
import { faceOfJob } from '../parts/face.ts';
import { Status } from '../parts/status.tsx';
import { Elapsed } from '../parts/time.tsx';
import { jobPath } from '../router.ts';
import { TerminalLines } from './terminal-text.tsx';

interface Props {
  job: Job;
  /** Buttons, at the end of the line. */
  children: ComponentChildren;
}

export function JobHead({ job, children }: Props) {
  return (
    <>
      <header class="log-head">
        <h2 id="log-title">
          <bdi>{job.name}</bdi>
        </h2>
        <Status face={faceOfJob(job)} />
        <dl class="facts">
          <Fact name="Time">
            <Elapsed from={job.started_at} to={job.state === 'active' ? null : job.finished_at} />
          </Fact>
          <Fact name="Try">
            {job.tries} of {job.max_attempts}
          </Fact>
          {job.worker_id && <Fact name="Worker">{job.worker_id}</Fact>}
          {job.uses && <Fact name="Uses">{job.uses}</Fact>}
          {job.required_labels.length > 0 && <Fact name="Labels">{job.required_labels.join(', ')}</Fact>}
          {job.reused_from && (
            <Fact name="Taken over from">
              <a href={jobPath(job.reused_from, job.job_id)}>{job.reused_from.slice(0, 8)}…</a>
            </Fact>
          )}
        </dl>
        {children}
      </header>
      {job.waiting && <p class="job-waits">Waits: {job.waiting.detail}</p>}
      {job.error && job.state !== 'active' && (
        <pre class="job-error" tabIndex={0} aria-label="Error">
          <TerminalLines text={job.error} />
        </pre>
      )}
    </>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
