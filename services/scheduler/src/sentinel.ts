// Rings for what nobody rang for: a delay or a retry that came due, a row inserted without a NOTIFY, a lost bell; and, for
// everyone, when whoever was woken first could not take it.
import type { Hint } from '@wfg/shared/contract/bell';
import type { Doorbell } from '@wfg/shared/db/doorbell';
import type { Queryable } from '@wfg/shared/db/pool';
import { type DueLane, lookForDue } from '@wfg/shared/queries/due';
import { jitter } from '@wfg/shared/rules/pause';
import { sentinelLanes } from '@wfg/shared/runtime/counters';

const LONGEST_MS = 1_000;
/** Many retries that come due one after another are rung for together. */
const SHORTEST_MS = 50;

/** Begins what else there is to do, if it has not begun. */
interface Begin {
  advance: () => void;
  fire: () => void;
  operate: () => void;
}

/** Looks once; returns how long to sleep: until the next delayed job or tick is due, at most about a second. */
export async function lookAround(db: Queryable, doorbell: Doorbell, begin: Begin): Promise<number> {
  const { lanes, next_in_ms, ticks, operations, unsettled } = await lookForDue(db);
  if (unsettled) begin.advance();
  if (ticks) begin.fire();
  if (operations) begin.operate();
  const late = lanes.filter((lane) => lane.late);
  const fresh = lanes.filter((lane) => !lane.late);
  sentinelLanes.inc({ age: 'due' }, fresh.length);
  sentinelLanes.inc({ age: 'late' }, late.length);
  // Two bells: the first is on its way before the second begins.
  if (fresh.length > 0) doorbell.ring(hintOf(fresh));
  if (late.length > 0) doorbell.ring({ ...hintOf(late), everyone: true });
  return Math.min(jitter(LONGEST_MS), Math.max(next_in_ms ?? LONGEST_MS, SHORTEST_MS));
}

function hintOf(lanes: readonly DueLane[]): Hint {
  return {
    lanes: Object.fromEntries(lanes.map(({ lane, due }) => [lane, due])),
    requires: Object.fromEntries(lanes.map(({ lane, requires }) => [lane, requires])),
  };
}
