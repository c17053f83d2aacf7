// What a child process counts, on its way to the /metrics of its parent: nobody asks the child.
import type { Counter } from 'prom-client';
import { lanesRungAgain, rungBells } from '../db/bell-counters.ts';
import { claimedJobs, claimsMade, failedSteps, reportedResults } from './counters.ts';

const COUNTERS = { claimedJobs, claimsMade, failedSteps, lanesRungAgain, reportedResults, rungBells };

/** By how much one has grown, for one combination of labels. */
export interface Carried {
  counter: keyof typeof COUNTERS;
  labels: Partial<Record<string, string | number>>;
  by: number;
}

/** What this process has counted since the last call. */
export async function takeCarried(): Promise<Carried[]> {
  return (await Promise.all(Object.keys(COUNTERS).filter(isCounter).map(take))).flat();
}

async function take(counter: Carried['counter']): Promise<Carried[]> {
  const counted: Counter = COUNTERS[counter];
  const taken = counted.get();
  // At once, so that what is counted before that is answered is neither lost nor taken twice.
  counted.reset();
  const { values } = await taken;
  return values.flatMap(({ labels, value }) => (value === 0 ? [] : { counter, labels, by: value }));
}

/** Counts here what a child has counted. */
export function addCarried(carried: readonly Carried[]): void {
  for (const { counter, labels, by } of carried) {
    const counted: Counter = COUNTERS[counter];
    counted.inc(labels, by);
  }
}

function isCounter(name: string): name is Carried['counter'] {
  return Object.hasOwn(COUNTERS, name);
}
