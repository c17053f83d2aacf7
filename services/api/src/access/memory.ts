// What the database said lately about credentials, so that it is not asked at each request.
import type { Role } from '@wfg/shared/contract/session';
import type { Credential } from './credential.ts';

/** How long an answer is taken for what is so. */
const FRESH_MS = 5_000;
/** Answers that are kept; the oldest are dropped. */
const MOST_KEPT = 1_000;

export interface Memory {
  /** Whether it was right when it was last asked about, however long ago. */
  wasRight: (credential: Credential) => boolean;
  /** What was said moments ago, or else is said now; requests that come together ask together. */
  roleOf: (credential: Credential) => Promise<Role | null>;
  /** Asks anew about everything, also about what is just being asked. */
  doubt: () => void;
}

/** Asks `find`, whose errors are passed on. */
export function createMemory(find: (credential: Credential) => Promise<Role | null>): Memory {
  const kept = new Map<string, { role: Role; at: number; doubts: number }>();
  let asking = new Map<string, Promise<Role | null>>();
  let doubts = 0;

  async function ask(key: string, credential: Credential): Promise<Role | null> {
    const asked = { at: performance.now(), doubts };
    const role = await find(credential);
    kept.delete(key);
    if (role !== null) kept.set(key, { role, ...asked });
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
    return role;
  }

  return {
    wasRight: (credential) => kept.has(keyOf(credential)),
    async roleOf(credential) {
      const key = keyOf(credential);
      const known = kept.get(key);
      if (known && known.doubts === doubts && performance.now() - known.at < FRESH_MS) return known.role;
      const among = asking;
      const answer = among.get(key) ?? ask(key, credential).finally(() => among.delete(key));
      among.set(key, answer);
      return answer;
    },
    doubt() {
      doubts++;
      asking = new Map();
    },
  };
}

function keyOf({ kind, hash }: Credential): string {
  return `${kind} ${hash.toString('base64')}`;
}
