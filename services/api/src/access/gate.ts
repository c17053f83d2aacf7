// What every request passes before it is served, be it HTTP or a WebSocket: where it comes from, and by what right.
import { WfgError } from '@wfg/shared/contract/problem';
import type { Role } from '@wfg/shared/contract/session';
import type { Access } from './access.ts';
import { type Credential, credentialOf, type Shown } from './credential.ts';
import { mayChange, originCheck, type Sender } from './origin.ts';
import { createStrikes } from './strikes.ts';

export interface Visitor extends Sender, Shown {
  /** The peer's: a proxy's, where there is one. */
  address: string;
}

export interface Gate {
  /** Throws foreign_host or foreign_origin. */
  checkOrigin: (visitor: Visitor) => void;
  /** What the visitor may do; null: nothing without another token. Throws too_many_requests after wrong ones. */
  roleOf: (visitor: Visitor) => Promise<Role | null>;
  /** Throws unauthorized unless the visitor may do what it asks. */
  admit: (visitor: Visitor) => Promise<void>;
}

export function createGate(access: Access, trustedOrigins: readonly string[]): Gate {
  const strikes = createStrikes();

  async function roleOf(visitor: Visitor): Promise<Role | null> {
    const credential = credentialOf(visitor);
    // A session that has ended is nobody's guess. What was right before is looked up in any case: behind a proxy all
    // have one address, and whoever guesses there must not keep the others out.
    const isGuess = access.isGuarded() && credential?.kind === 'token' && !access.isKnown(credential);
    if (isGuess && strikes.isOut(visitor.address)) {
      throw new WfgError('too_many_requests', 'too many wrong tokens came from your address: wait a minute');
    }
    const role = await access.roleOf(credential);
    if (isGuess && role === null) strikes.add(visitor.address, credential.hash);
    return role;
  }

  return {
    checkOrigin: originCheck(trustedOrigins, access.isGuarded),
    roleOf,
    async admit(visitor) {
      const credential = credentialOf(visitor);
      if ((await roleOf(visitor)) === null) throw refusal(credential);
      // A browser sends its cookie along with whatever makes it ask; only the page's name says who did.
      if (credential?.kind === 'session' && mayChange(visitor) && visitor.origin === undefined) {
        throw new WfgError('foreign_origin', 'a session is for pages, which send Origin: use a token here');
      }
    },
  };
}

function refusal(credential: Credential | null): WfgError {
  if (credential?.kind === 'token')
    return new WfgError('unauthorized', 'the token is wrong, or was replaced');
  const why = credential === null ? 'a token is needed' : 'the session has ended';
  return new WfgError('unauthorized', `${why}: send "Authorization: Bearer <token>", or log in on the page`);
}
