// What chance decides of a history's next line. Leases are counted from the newest, so that what shrinks stays near.
import {
  type Arbitrary,
  boolean,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  record,
  uniqueArray,
} from 'fast-check';

export const HOWS = [
  'completed',
  'failed',
  'failed for good',
  'timed_out',
  'handed_back',
  'cancelled',
  'next',
  'parked',
] as const;
export type How = (typeof HOWS)[number];

export type Line =
  | { do: 'claim'; worker: number; limit: number }
  | { do: 'tick'; secs: number }
  | { do: 'report'; leases: number[]; how: How }
  | { do: 'renew'; leases: number[] }
  | { do: 'print'; lease: number }
  | { do: 'give up'; leases: number[]; at_fault: boolean }
  | { do: 'reap' | 'expire'; limit: number }
  | { do: 'cancel' | 'requeue'; job: number }
  | { do: 'cancel run'; run: number; force: boolean }
  | { do: 'time out' | 'advance' }
  | { do: 'end'; commit: boolean };

export interface Choice {
  line: Line;
  /** In a transaction that stays open until a later line ends it. */
  held: boolean;
}

const lease = oneof(constant(0), nat({ max: 5 }));
const leases = uniqueArray(lease, { minLength: 1, maxLength: 3 });
const limit = constantFrom(10, 1);
const nth = nat({ max: 5 });

const often = (weight: number, arbitrary: Arbitrary<Line>) => ({ weight, arbitrary });
const line = oneof(
  often(6, record({ do: constant('claim'), worker: nat({ max: 2 }), limit: integer({ min: 1, max: 3 }) })),
  often(4, record({ do: constant('tick'), secs: constantFrom(1, 10, 21, 31, 61) })),
  often(6, record({ do: constant('report'), leases, how: constantFrom(...HOWS) })),
  often(2, record({ do: constant('renew'), leases })),
  often(1, record({ do: constant('print'), lease })),
  often(2, record({ do: constant('give up'), leases, at_fault: boolean() })),
  often(4, record({ do: constantFrom('reap', 'reap', 'reap', 'expire'), limit })),
  often(4, record({ do: constantFrom('cancel', 'requeue'), job: nth })),
  often(1, record({ do: constant('cancel run'), run: nth, force: boolean() })),
  often(4, record({ do: constantFrom('advance', 'advance', 'advance', 'time out') })),
  often(3, record({ do: constant('end'), commit: boolean() })),
);

export const choices: Arbitrary<Choice> = record({ line, held: constantFrom(false, false, false, true) });
