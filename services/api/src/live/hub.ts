// Who follows something on this process, by WebSocket or by stream: the bells are passed to them, and a stop ends them.
import type { Bell } from '@wfg/shared/contract/bell';
import type { Credential } from '../access/credential.ts';

const MAX_VIEWERS = 2_000;

/** Why a viewer is sent away. */
export type Farewell = 'stopping' | 'unauthorized';

export interface Viewer {
  /** Wakes what a bell may be about. */
  hear: (bell: Bell) => void;
  /** Ends what is being sent, and closes. */
  close: (why: Farewell) => Promise<void>;
  closed: Promise<void>;
}

export interface Hub {
  hear: (bell: Bell) => void;
  /** Keeps a viewer, who showed this credential, until it has closed; closes it at once when the hub is closed. */
  add: (viewer: Viewer, credential: Credential | null) => void;
  /** Closes the viewers whose credential is refused. */
  dismiss: (isRefused: (credential: Credential | null) => Promise<boolean>) => Promise<void>;
  /** Whether it has as many viewers as it takes. */
  isFull: () => boolean;
  count: () => number;
  /** Resolves when every viewer has closed. */
  close: () => Promise<void>;
}

export function createHub(): Hub {
  const viewers = new Map<Viewer, Credential | null>();
  let over = false;
  return {
    hear(bell) {
      for (const viewer of viewers.keys()) viewer.hear(bell);
    },
    add(viewer, credential) {
      viewers.set(viewer, credential);
      void viewer.closed.then(() => viewers.delete(viewer));
      if (over) void viewer.close('stopping');
    },
    async dismiss(isRefused) {
      for (const [viewer, credential] of viewers) {
        if (await isRefused(credential)) void viewer.close('unauthorized');
      }
    },
    isFull: () => viewers.size >= MAX_VIEWERS,
    count: () => viewers.size,
    async close() {
      over = true;
      await Promise.all([...viewers.keys()].map((viewer) => viewer.close('stopping')));
    },
  };
}
