// Claims that wait for a job. A bell wakes as many as there are jobs, of those that offer what its lane requires; in
// between one of each kind looks, and wakes the next of its kind if it finds something.
import type { Bell } from '@wfg/shared/contract/bell';
import { WfgError } from '@wfg/shared/contract/problem';
import { beatWaiting } from '@wfg/shared/queries/foreign-workers';
import { covers } from '@wfg/shared/rules/chosen';
import { jitter } from '@wfg/shared/rules/pause';
import { startLoop } from '@wfg/shared/runtime/loop';
import type pg from 'pg';
import type { Logger } from 'pino';

const MAX_WAITING = 1_000;
/** While nobody waits. */
const IDLE_MS = 10_000;

/** A claim's place among those that wait. It is taken before the first look, so that no bell is missed. */
export interface Place {
  /** Resolves when it is time to look; with false when the time is over, the client gone, or the api stops. */
  wait: (ms: number, gone: AbortSignal) => Promise<boolean>;
  /** The look has found something: perhaps there is more for others. */
  passOn: () => void;
  leave: () => void;
}

/** Disposal sends all that wait away with nothing. */
export interface WaitingClaims extends AsyncDisposable {
  hear: (bell: Bell) => void;
  /** The api stops. */
  isOver: () => boolean;
  /** @throws {WfgError} unavailable, when too many wait already. */
  enter: (workerId: string, offered: readonly string[]) => Place;
}

interface Waiting {
  workerId: string;
  offered: readonly string[];
  /** Who offers the same is of one kind. */
  kind: string;
  /** Why it is to look; null while nothing was rung. */
  rung: 'bell' | 'sweep' | null;
  stir: () => void;
}

interface Settings {
  pool: pg.Pool;
  log: Logger;
  /** How long to sleep before one of each kind looks unasked, in milliseconds. */
  pollMs: () => number;
}

/** For all claims that wait at this api, 1,000 at most. */
export function createWaitingClaims({ pool, log, pollMs }: Settings): WaitingClaims {
  const places = new Set<Waiting>();
  let over = false;

  /** Wakes up to `count` that fit, those first that came first. */
  function wake(count: number, why: 'bell' | 'sweep', fits: (place: Waiting) => boolean): void {
    let left = count;
    for (const place of places) {
      if (left <= 0) return;
      if (place.rung !== null || !fits(place)) continue;
      place.rung = why;
      place.stir();
      left--;
      // To the end: whoever looks already is the last one to be asked to look again.
      places.delete(place);
      places.add(place);
    }
  }

  const loop = startLoop({
    name: 'waiting claims',
    log,
    async step() {
      if (places.size === 0) return jitter(IDLE_MS);
      await beatWaiting(pool, [...new Set([...places].map(({ workerId }) => workerId))]);
      const kinds = new Set([...places].map(({ kind }) => kind));
      for (const kind of kinds) wake(1, 'sweep', (place) => place.kind === kind);
      return pollMs();
    },
  });

  return {
    hear({ lanes = {}, requires, all }) {
      if (all) loop.wake();
      for (const [lane, count] of Object.entries(lanes)) {
        const required = requires?.[lane];
        if (required) wake(count, 'bell', ({ offered }) => covers(offered, required));
        else loop.wake();
      }
    },
    isOver: () => over,
    async [Symbol.asyncDispose]() {
      over = true;
      for (const place of places) place.stir();
      await loop[Symbol.asyncDispose]();
    },
    enter(workerId, offered) {
      if (places.size >= MAX_WAITING)
        throw new WfgError('unavailable', 'too many claims wait already: try again');
      const kind = offered.toSorted().join('\n');
      const place: Waiting = { workerId, offered, kind, rung: null, stir: () => undefined };
      let why: Waiting['rung'] = null;
      places.add(place);
      const next = (reason: 'bell' | 'sweep') => wake(1, reason, (other) => other.kind === kind);
      return {
        async wait(ms, gone) {
          const isOver = () => over || gone.aborted;
          if (place.rung === null && !isOver()) await stirred(place, ms, gone);
          if (isOver()) return false;
          why = place.rung;
          place.rung = null;
          return why !== null;
        },
        passOn() {
          if (why === 'sweep') next('sweep');
        },
        leave() {
          places.delete(place);
          // What it was rung for and did not look at is for another.
          if (place.rung !== null) next(place.rung);
        },
      };
    },
  };
}

/** Until it is stirred, the time is over or the client has gone. */
async function stirred(place: Waiting, ms: number, gone: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  place.stir = resolve;
  const timer = setTimeout(resolve, ms);
  const left = () => resolve();
  gone.addEventListener('abort', left);
  await promise;
  clearTimeout(timer);
  gone.removeEventListener('abort', left);
}
