// Who follows something on this process, by WebSocket or by stream: a stop ends them, and a token that is revoked.
import type { Credential } from '../access/credential.ts';

const MAX_VIEWERS = 2_000;

/** Why a viewer is sent away. */
export type Farewell = 'stopping' | 'unauthorized';

export interface Viewer {
  /** Ends what is being sent, and closes. */
  close: (why: Farewell) => Promise<void>;
  closed: Promise<void>;
}

export interface Hub {
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
