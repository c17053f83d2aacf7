// Who follows something on this process, by WebSocket or by stream: the bells are passed to them, and a stop ends them.
import type { Bell } from '@wfg/shared/contract/bell';

const MAX_VIEWERS = 2_000;

export interface Viewer {
  /** Wakes what a bell may be about. */
  hear: (bell: Bell) => void;
  /** Ends what is being sent, and closes. */
  close: () => Promise<void>;
  closed: Promise<void>;
}

export interface Hub {
  hear: (bell: Bell) => void;
  /** Keeps a viewer until it has closed; closes it at once when the hub is closed. */
  add: (viewer: Viewer) => void;
  /** Whether it has as many viewers as it takes. */
  isFull: () => boolean;
  count: () => number;
  /** Resolves when every viewer has closed. */
  close: () => Promise<void>;
}

export function createHub(): Hub {
  const viewers = new Set<Viewer>();
  let over = false;
  return {
    hear(bell) {
      for (const viewer of viewers) viewer.hear(bell);
    },
    add(viewer) {
      viewers.add(viewer);
      void viewer.closed.then(() => viewers.delete(viewer));
      if (over) void viewer.close();
    },
    isFull: () => viewers.size >= MAX_VIEWERS,
    count: () => viewers.size,
    async close() {
      over = true;
      await Promise.all([...viewers].map((viewer) => viewer.close()));
    },
  };
}
