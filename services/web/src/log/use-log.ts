// The live log of one job: a store that the socket fills, redrawn once a frame however many chunks come.
import { type Signal, signal } from '@preact/signals';
import type { ServerFrame } from '@wfg/shared/contract/live';
import { useEffect, useMemo } from 'preact/hooks';
import type { TopicFrame } from '../live/connection.ts';
import { live } from '../live/live.ts';
import { type LogStore, createLogStore } from './store.ts';

export type LogEnd = Extract<ServerFrame, { op: 'end' }>;

export interface LogView {
  store: LogStore;
  /** Moves on when the store has grown, at most once for each frame drawn. */
  version: Signal<number>;
  /** Set once the last attempt is complete; null again when another begins. */
  end: Signal<LogEnd | null>;
  problem: Signal<string | null>;
}

/**
 * Follows a job's log from its first line until the component goes, or what is followed changes: one attempt, or all
 * when that is null.
 */
export function useLog(run: string, job: string, attempt: number | null): LogView {
  const view = useMemo(createLogView, [run, job, attempt]);
  useEffect(
    () =>
      live.subscribe({
        topic: () => ({
          topic: 'logs',
          run,
          job,
          attempt: attempt ?? undefined,
          after: view.store.position(),
        }),
        receive: view.receive,
      }),
    [view],
  );
  return view;
}

function createLogView(): LogView & { receive: (frame: TopicFrame) => void } {
  const store = createLogStore();
  const version = signal(0);
  const end = signal<LogEnd | null>(null);
  const problem = signal<string | null>(null);
  let drawing = false;

  function redraw(): void {
    if (drawing) return;
    drawing = true;
    requestAnimationFrame(() => {
      drawing = false;
      version.value += 1;
    });
  }

  return {
    store,
    version,
    end,
    problem,
    receive(frame) {
      problem.value = frame.op === 'error' ? frame.detail : null;
      if (frame.op === 'end') end.value = frame;
      if (frame.op !== 'log' && frame.op !== 'attempt') return;
      if (end.value && frame.attempt > end.value.attempt) end.value = null;
      if (frame.op === 'log') store.append(frame);
      else store.beginAttempt(frame.attempt);
      redraw();
    },
  };
}
