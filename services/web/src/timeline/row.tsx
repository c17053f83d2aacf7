// One job on the timeline. Its earlier attempts are fetched when it is seen, where it has any.
import { useSignal } from '@preact/signals';
import type { Attempt } from '@wfg/shared/contract/job';
import { useEffect } from 'preact/hooks';
import { getAttempts } from '../api/runs.ts';
import { now } from '../clock.ts';
import type { JobCell } from '../live/run-model.ts';
import { faceOfJob } from '../parts/face.ts';
import { Icon } from '../parts/status.tsx';
import { jobPath } from '../router.ts';
import { durationText } from '../time-text.ts';
import { type Span, spansOf } from './spans.ts';

interface Props {
  run: string;
  cell: JobCell;
  ready: number | null;
  /** The axis: its first moment, and its milliseconds. */
  begin: number;
  length: number;
  isCritical: boolean;
  isChosen: boolean;
}

export function TimeRow({ run, cell, ready, begin, length, isCritical, isChosen }: Props) {
  const job = cell.value;
  const earlier = useEarlier(run, job.job_id, job.attempt);
  const spans = spansOf(job, ready, earlier);
  const face = faceOfJob(job);
  const text = textOf(spans);
  return (
    <a
      class="time-row"
      href={jobPath(run, job.job_id)}
      aria-current={isChosen ? 'true' : undefined}
      title={text}
    >
      <span class="time-name" data-tone={face.tone}>
        <Icon face={face} />
        <bdi>{job.name}</bdi>
        <span class="unseen">: {face.word}, </span>
      </span>
      <span class="time-track" data-critical={isCritical ? '' : undefined}>
        {spans.map((span) => (
          <i
            key={span.from}
            class={span.kind === 'run' ? 'bar-run' : 'bar-wait'}
            data-tone={span.tone}
            style={placeOf(span, begin, length)}
          />
        ))}
        <span
          class="time-text"
          style={{ left: `${percent((spans.at(-1)?.to ?? begin + length) - begin, length)}%` }}
        >
          {text}
          {isCritical && <span class="unseen">, on the critical path</span>}
        </span>
      </span>
    </a>
  );
}

function percent(ms: number, length: number): number {
  return Math.min(100, Math.max(0, (ms / length) * 100));
}

function placeOf({ from, to }: Span, begin: number, length: number) {
  const left = percent(from - begin, length);
  return { left: `${left}%`, width: `${percent((to ?? begin + length) - begin, length) - left}%` };
}

function textOf(spans: readonly Span[]): string {
  const sum = (kind: Span['kind']) =>
    spans.filter((one) => one.kind === kind).reduce((all, { from, to }) => all + (to ?? now.value) - from, 0);
  if (spans.length === 0) return '';
  const isLive = spans.at(-1)?.to === null;
  const attempts = spans.filter(({ kind }) => kind === 'run').length;
  const ran = attempts === 0 ? '' : `, ran ${durationText(sum('run'), isLive)}`;
  return `waited ${durationText(sum('wait'), isLive)}${ran}${attempts > 1 ? ` in ${attempts} attempts` : ''}`;
}

/** The attempts of a job that had more than one; until they are here, none. */
function useEarlier(run: string, job: string, attempt: number): readonly Attempt[] {
  const earlier = useSignal<readonly Attempt[]>([]);
  useEffect(() => {
    if (attempt <= 0) return undefined;
    const stop = new AbortController();
    // Without them the last one is shown, as of any other job.
    getAttempts(run, job, stop.signal).then(
      (all) => (earlier.value = all),
      () => undefined,
    );
    return () => stop.abort();
  }, [run, job, attempt]);
  return earlier.value;
}
