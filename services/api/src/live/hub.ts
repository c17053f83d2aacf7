// Who follows something on this process, by WebSocket or by stream: a stop ends them, and a token that is revoked.
import { WfgError } from '@wfg/shared/contract/problem';
import { refusedViewers, viewers as viewersNow } from '@wfg/shared/runtime/counters';
import type { Credential } from '../access/credential.ts';

export interface ViewerLimits {
  viewers: number;
  /** Of them, by one token or session, or by all who show none. */
  viewersOfOne: number;
}

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
  /** @throws {WfgError} unavailable or too_many_requests, when it has as many viewers as it takes. */
  admit: (credential: Credential | null) => void;
  count: () => number;
  /** Resolves when every viewer has closed. */
  close: () => Promise<void>;
}

/** Counts viewers whole and by credential; those that have closed no longer. */
export function createHub(limits: ViewerLimits): Hub {
  const viewers = new Map<Viewer, Credential | null>();
  const byOwner = new Map<string, number>();
  let over = false;

  function count(credential: Credential | null, more: 1 | -1): void {
    const owner = ownerOf(credential);
    const now = (byOwner.get(owner) ?? 0) + more;
    if (now > 0) byOwner.set(owner, now);
    else byOwner.delete(owner);
    viewersNow.set(viewers.size);
  }

  async function forget(viewer: Viewer, credential: Credential | null): Promise<void> {
    await viewer.closed;
    viewers.delete(viewer);
    count(credential, -1);
  }

  return {
    add(viewer, credential) {
      viewers.set(viewer, credential);
      count(credential, 1);
      void forget(viewer, credential);
      if (over) void viewer.close('stopping');
    },
    async dismiss(isRefused) {
      for (const [viewer, credential] of viewers) {
        if (await isRefused(credential)) void viewer.close('unauthorized');
      }
    },
    admit(credential) {
      if (viewers.size >= limits.viewers) {
        refusedViewers.inc({ limit: 'viewers' });
        throw new WfgError(
          'unavailable',
          `this server has ${limits.viewers} viewers already: try again later, or raise WS_MAX_VIEWERS`,
        );
      }
      if ((byOwner.get(ownerOf(credential)) ?? 0) < limits.viewersOfOne) return;
      refusedViewers.inc({ limit: 'viewers_of_one' });
      const who = credential === null ? 'without a token' : `by one ${credential.kind}`;
      const detail = `${limits.viewersOfOne} viewers ${who} are the most: close some, or raise WS_MAX_PER_TOKEN`;
      throw new WfgError('too_many_requests', detail);
    },
    count: () => viewers.size,
    async close() {
      over = true;
      await Promise.all([...viewers.keys()].map((viewer) => viewer.close('stopping')));
    },
  };
}

function ownerOf(credential: Credential | null): string {
  return credential === null ? '' : `${credential.kind} ${credential.hash.toString('base64')}`;
}
