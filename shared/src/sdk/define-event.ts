// How a module says what handles the events of a type.
import { Backoff } from '../contract/backoff.ts';
import { WorkflowType } from '../contract/event.ts';
import { check } from '../rules/issues.ts';
import { z } from 'zod';

/** What a handler is called with, once for each try. */
export interface EventContext<P = unknown> {
  /**
   * What the definition's schema makes of it, in which integers beyond 2^53 are bigints. Without a schema as it was
   * enqueued: they are opaque values then, which `JSON.stringify` writes as they came.
   */
  payload: P;
  /** Counts from 1. */
  tryNumber: number;
  maxAttempts: number;
  /** What is printed on it becomes the job's log, and goes nowhere else. */
  log: Console;
  /**
   * Aborted when the handler must stop: its reason is a StopError. What comes back later does not count, and a handler
   * that goes on is not waited for longer than KILL_GRACE_SECS.
   */
  signal: AbortSignal;
  /** Sets a named result for the jobs that depend on this one; all together at most 1 MiB. */
  setOutput: (name: string, value: string) => void;
  /** Null for an event that stands alone. */
  workflowId: string | null;
  runId: string;
  jobId: string;
  /** Counts from 0, and never repeats for a job. */
  attempt: number;
}

/** The try succeeded when it returns or resolves, with whatever; it failed when it throws or rejects. */
export type EventHandler<P = unknown> = (context: EventContext<P>) => unknown;

export interface EventOptions<S extends z.ZodType> {
  type: string;
  /**
   * What a payload must be, as a schema of zod, when it comes out of JSON: `z.coerce.date()` for a date, `z.bigint()` for
   * integers beyond 2^53. One that does not fit is a dead letter at once: no try would mend it.
   */
  payload?: S;
  handler: EventHandler<z.output<S>>;
  /** How long to wait before a retry, unless the event brings its own; exponential, 1 s to 60 s. */
  backoff?: Backoff;
  /** For one try, in seconds, unless the event brings its own; no limit. */
  timeoutSecs?: number;
}

const DEFINITION: unique symbol = Symbol.for('wfg.event');

export interface EventDefinition<S extends z.ZodType = z.ZodType> {
  [DEFINITION]: true;
  type: string;
  payload: S | null;
  handler: EventHandler;
  /** Null: an exponential one, 1 s to 60 s. */
  backoff: Backoff | null;
  /** Null: no limit. */
  timeoutSecs: number | null;
}

const Options = z.strictObject({
  type: WorkflowType,
  payload: z.custom<z.ZodType>((value) => value instanceof z.ZodType, 'must be a schema of zod').optional(),
  handler: z.custom<EventHandler>((value) => typeof value === 'function', 'must be a function'),
  backoff: Backoff.optional(),
  timeoutSecs: z.int().min(1).max(1_000_000_000).optional(),
});

/**
 * Defines the handler of a type; to be exported by the module.
 *
 * @throws {TypeError} saying what is wrong with the definition.
 */
export function defineEvent<const S extends z.ZodType = z.ZodUnknown>(
  options: EventOptions<S>,
): EventDefinition<S> {
  const { data, issues } = check(Options, options);
  if (issues) {
    const faults = issues.map(({ path, message }) => `${path} ${message}`);
    throw new TypeError(`defineEvent: ${faults.join('; ')}`);
  }
  const { type, handler, backoff = null, timeoutSecs = null } = data;
  return { [DEFINITION]: true, type, payload: options.payload ?? null, handler, backoff, timeoutSecs };
}

export function isEventDefinition(value: unknown): value is EventDefinition {
  return typeof value === 'object' && value !== null && DEFINITION in value;
}
