// A run followed over the socket, its changes told to screen readers.
import type { Job } from '@wfg/shared/contract/job';
import type { RunSummary } from '@wfg/shared/contract/run';
import { useEffect, useMemo } from 'preact/hooks';
import { live } from '../live/live.ts';
import { type RunModel, createRunModel } from '../live/run-model.ts';
import { announce } from '../parts/announcer.tsx';
import { faceOfJob, faceOfRun } from '../parts/face.ts';

const TOLD = {
  onJob: (job: Job) => announce(`${job.name}: ${faceOfJob(job).word}`),
  onRun: (run: RunSummary) => announce(`Run ${run.name}: ${faceOfRun(run.status).word}`),
};

/** Subscribed until the component goes or `run` changes. */
export function useRun(run: string): RunModel {
  const model = useMemo(() => createRunModel(TOLD), [run]);
  useEffect(
    () => live.subscribe({ topic: () => ({ topic: 'run', run }), receive: (frame) => model.receive(frame) }),
    [model],
  );
  return model;
}
