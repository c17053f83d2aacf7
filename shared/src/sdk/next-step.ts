// What a step returns: the step that comes next and when, or that the task is done.
import type { z } from 'zod';
import { encodeStep, type States } from './step-json.ts';

export interface NextStep {
  step: string;
  /** The whole step, `{"<Task>":{"<Step>":<state>}}`. */
  payload: unknown;
  /** After the end of this step. */
  delay_secs: number;
  /** Instead of the delay: not before this time. */
  at: Date | null;
}

/** Made by `next` alone. */
export class Onward {
  /** Null: the task is done. */
  readonly #next: NextStep | null;

  constructor(next: NextStep | null) {
    this.#next = next;
  }

  /**
   * What a step returned.
   *
   * @throws {TypeError} when it is nothing that `next` makes.
   */
  static read(value: unknown): NextStep | null {
    if (value instanceof Onward) return value.#next;
    throw new TypeError('a step must return next.now(…), next.after(…), next.at(…) or next.done()');
  }
}

/** A step without fields is named without a state. */
export type StateOf<S extends States, K extends keyof S> =
  null extends z.input<S[K]> ? [state?: z.input<S[K]>] : [state: z.input<S[K]>];

export interface Next<S extends States> {
  /** At once, behind what is due already; on any worker. */
  now: <K extends keyof S & string>(step: K, ...state: StateOf<S, K>) => Onward;
  /** So many seconds after the end of this step, by the database's clock. */
  after: <K extends keyof S & string>(seconds: number, step: K, ...state: StateOf<S, K>) => Onward;
  /** Not before a time. */
  at: <K extends keyof S & string>(time: Date, step: K, ...state: StateOf<S, K>) => Onward;
  /** Ends the task. */
  done: () => Onward;
}

/** The longest delay: about 31 years. */
const LONGEST_SECS = 1_000_000_000;

export function createNext(task: string, states: States): Next<States> {
  const onward = (step: string, state: unknown, delay_secs: number, at: Date | null) =>
    new Onward({ step, payload: encodeStep(task, states, step, state), delay_secs, at });
  return {
    now: (step, state = null) => onward(step, state, 0, null),
    after(seconds, step, state = null) {
      if (!(seconds >= 0 && seconds <= LONGEST_SECS))
        throw new RangeError(`next.after takes 0 to ${LONGEST_SECS} seconds, not ${seconds}`);
      return onward(step, state, seconds, null);
    },
    at(time, step, state = null) {
      const year = time.getUTCFullYear();
      if (!(year >= 1 && year <= 9999)) throw new RangeError('next.at takes a Date in the years 1 to 9999');
      return onward(step, state, 0, time);
    },
    done: () => new Onward(null),
  };
}
