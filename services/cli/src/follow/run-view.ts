// How a followed run is shown: as text for people, or a JSON object a line for programs.
import { styleText } from 'node:util';
import type { RunEvent, ServerFrame } from '@wfg/shared/contract/live';
import type { Run } from '@wfg/shared/contract/run';
import { jsonLine, terminalLine } from '../terminal-safe.ts';
import { describeEvent, type Tone } from './describe-event.ts';
import { createLogLines, type LogLines } from './log-lines.ts';

export type LogFrame = Extract<ServerFrame, { op: 'log' }>;

export interface RunView {
  begin: (run: Run, page: string) => void;
  /** In order, each once; a job's end comes after its log, the run's end last. */
  event: (event: RunEvent) => void;
  log: (job: string, frame: LogFrame) => void;
  /** The job's log is complete, or goes on with another attempt. */
  logBreak: (job: string) => void;
}

export interface Screen {
  write: (text: string) => void;
  /** What jobs write must not take it over; whether it gets colours, the environment says (NO_COLOR). */
  isTerminal: boolean;
}

/** A chunk of a log as a line of JSON output. */
export function logRecord(run: string, job: string, frame: Omit<LogFrame, 'op' | 'id'>): object {
  const { attempt, sequence, line, stream, timestamp_ms, data } = frame;
  return { type: 'log', run_id: run, job_id: job, attempt, sequence, line, stream, timestamp_ms, data };
}

export function jsonView(write: (text: string) => void): RunView {
  const put = (value: object) => write(jsonLine(value));
  let runId = '';
  return {
    begin(run) {
      runId = run.run_id;
      put({ type: 'run', run });
    },
    event: put,
    log: (job, frame) => put(logRecord(runId, job, frame)),
    logBreak: () => undefined,
  };
}

const LONGEST_PREFIX = 24;
const COLOURS: Record<Tone, 'green' | 'red' | 'dim'> = { good: 'green', bad: 'red', plain: 'dim' };

export function textView({ write, isTerminal }: Screen): RunView {
  const logs = new Map<string, LogLines>();
  let width = 0;

  const styled = (style: 'bold' | (typeof COLOURS)[Tone], text: string) =>
    isTerminal ? styleText(style, text) : text;

  function putLines(job: string, lines: readonly string[]): void {
    const shown = isTerminal ? lines.map(terminalLine) : lines;
    write(shown.map((line) => `${job.padEnd(width)} | ${line}\n`).join(''));
  }

  function linesOf(job: string): LogLines {
    const known = logs.get(job) ?? createLogLines();
    logs.set(job, known);
    return known;
  }

  return {
    begin(run, page) {
      width = Math.min(LONGEST_PREFIX, Math.max(0, ...run.jobs.map((job) => job.job_id.length)));
      write(
        `run ${run.run_id} of ${styled('bold', terminalLine(run.name))}, ${run.jobs.length} ${run.jobs.length === 1 ? 'job' : 'jobs'}: ${page}\n`,
      );
    },
    event(event) {
      if (event.type === 'run_started' || event.type === 'run_finished') return;
      const description = describeEvent(event);
      if (description === null) return;
      write(
        `${event.job_id.padEnd(width)} * ${styled(COLOURS[description.tone], terminalLine(description.text))}\n`,
      );
    },
    log: (job, frame) => putLines(job, linesOf(job).push(frame.stream, frame.data)),
    logBreak(job) {
      putLines(job, linesOf(job).flush());
      logs.delete(job);
    },
  };
}
