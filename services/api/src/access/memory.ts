// What the database said lately about credentials, so that it is not asked at each request.
import type { Role } from '@wfg/shared/contract/session';
import type { Credential } from './credential.ts';

/** How long an answer counts. */
const FRESH_MS = 5_000;
/** Answers that are kept; the oldest are dropped. */
const MOST_KEPT = 1_000;

export interface Memory {
  /** What was said moments ago; null when nothing was. Only rights are remembered, not that there is none. */
  recall: (credential: Credential) => Role | null;
  /** What is remembered, or else is said now; requests that come together ask together. */
  roleOf: (credential: Credential) => Promise<Role | null>;
  /** Forgets everything, also what is being said. */
  forget: () => void;
}

/** Asks `find`, whose errors are passed on. */
export function createMemory(find: (credential: Credential) => Promise<Role | null>): Memory {
  let kept = new Map<string, { role: Role; at: number }>();
  let asking = new Map<string, Promise<Role | null>>();

  function recall(credential: Credential): Role | null {
    const found = kept.get(keyOf(credential));
    return found && performance.now() - found.at < FRESH_MS ? found.role : null;
  }

  /** Puts the answer where it was asked for: after a `forget` nobody looks there. */
  async function ask(credential: Credential, into = kept): Promise<Role | null> {
    const at = performance.now();
    const key = keyOf(credential);
    const role = await find(credential);
    into.delete(key);
    if (role !== null) into.set(key, { role, at });
    const [oldest] = into.keys();
    if (into.size > MOST_KEPT && oldest !== undefined) into.delete(oldest);
    return role;
  }

  return {
    recall,
    async roleOf(credential) {
      const known = recall(credential);
      if (known !== null) return known;
      const key = keyOf(credential);
      const among = asking;
      const answer = among.get(key) ?? ask(credential).finally(() => among.delete(key));
      among.set(key, answer);
      return answer;
    },
    forget() {
      kept = new Map();
      asking = new Map();
    },
  };
}

function keyOf({ kind, hash }: Credential): string {
  return `${kind} ${hash.toString('base64')}`;
}
