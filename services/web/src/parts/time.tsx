// Moments and durations that keep themselves current.
import { now } from '../clock.ts';
import { ageText, durationText, momentText } from '../time-text.ts';

/** From a start to an end, or to now while there is none; a dash before the start. */
export function Elapsed({ from, to }: { from: string | null; to: string | null }) {
  if (from === null) return <>–</>;
  const start = Date.parse(from);
  if (to === null) return <>{durationText(now.value - start, true)}</>;
  return <>{durationText(Date.parse(to) - start, false)}</>;
}

/** How long ago, with the moment itself on hover. */
export function Age({ of }: { of: string }) {
  return (
    <time dateTime={of} title={momentText(of)}>
      {ageText(now.value - Date.parse(of))}
    </time>
  );
}
