// A state as icon and word.
import type { Face, Icon as IconName } from './face.ts';

/** Strokes in a square of 16. */
const PATHS: Record<IconName, string> = {
  ring: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2',
  dashes: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2',
  arc: 'M8 2a6 6 0 1 1-6 6',
  check: 'M2.5 8.5 6.5 12.5 13.5 4',
  cross: 'M3.5 3.5 12.5 12.5M12.5 3.5 3.5 12.5',
  slash: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M4 12 12 4',
  stop: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M5 8H11',
};

export function Status({ face }: { face: Face }) {
  return (
    <span class="status" data-tone={face.tone}>
      <Icon face={face} />
      {face.word}
    </span>
  );
}

/** For where the word stands elsewhere. */
export function Icon({ face }: { face: Face }) {
  return (
    <svg class={`icon icon-${face.icon}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[face.icon]} />
    </svg>
  );
}
