// Who may do what: whether a token is asked for, and what the one that a request shows gives the right to.
import type { Role } from '@wfg/shared/contract/session';
import type { Doorbell } from '@wfg/shared/db/doorbell';
import { findSession } from '@wfg/shared/queries/sessions';
import { hasTokens, putConfiguredToken, useToken } from '@wfg/shared/queries/tokens';
import { isLoopback } from '@wfg/shared/rules/loopback';
import { jitter } from '@wfg/shared/rules/pause';
import { ConfigError } from '@wfg/shared/runtime/env';
import { startLoop } from '@wfg/shared/runtime/loop';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Hub } from '../live/hub.ts';
import { type Credential, sha256 } from './credential.ts';
import { createMemory } from './memory.ts';

/** How often, unasked, it is looked whether a token is asked for, and whether those who follow something still may. */
const LOOK_MS = 15_000;

export interface Access extends AsyncDisposable {
  /** Whether a token is asked for. */
  isGuarded: () => boolean;
  /** Whether it was right when it was last asked about. */
  isKnown: (credential: Credential) => boolean;
  /** What it gives the right to, as it was at most 5 s ago; rejects while the database is away. */
  roleOf: (credential: Credential | null) => Promise<Role | null>;
  /** Looks at once, and asks anew about everyone: something was changed. */
  look: () => void;
}

interface AccessSettings {
  pool: pg.Pool;
  log: Logger;
  hub: Hub;
  doorbell: Doorbell;
  /** Where the api listens, and the token of its configuration. */
  config: { HOST: string; WFG_ADMIN_TOKEN?: string | undefined };
}

/** Stores the configured token first. Throws a ConfigError if it must not be, or if there must be one. */
export async function createAccess(settings: AccessSettings): Promise<Access> {
  const { pool, log, hub, config } = settings;
  const { HOST, WFG_ADMIN_TOKEN } = config;
  if (WFG_ADMIN_TOKEN !== undefined) await installToken(sha256(WFG_ADMIN_TOKEN), settings);
  let isGuarded = await hasTokens(pool);
  const isPublic = !isLoopback(HOST);
  if (isPublic && !isGuarded) {
    throw new ConfigError([`HOST ${HOST} lets others in, and no token is asked for: set WFG_ADMIN_TOKEN`]);
  }
  if (isGuarded && WFG_ADMIN_TOKEN === undefined) {
    log.info('the database has a token, which is asked for: WFG_ADMIN_TOKEN would replace it');
  }
  const memory = createMemory(({ kind, hash }) =>
    kind === 'token' ? useToken(pool, hash) : findSession(pool, hash),
  );

  async function roleOf(credential: Credential | null): Promise<Role | null> {
    if (!isGuarded) return 'admin';
    return credential && memory.roleOf(credential);
  }

  const loop = startLoop({
    name: 'access',
    log,
    async step() {
      isGuarded = isPublic || (await hasTokens(pool));
      await hub.dismiss(async (credential) => (await roleOf(credential)) === null);
      return jitter(LOOK_MS);
    },
  });

  return {
    isGuarded: () => isGuarded,
    isKnown: memory.wasRight,
    roleOf,
    look() {
      memory.doubt();
      loop.wake();
    },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

async function installToken(hash: Buffer, { pool, doorbell, log }: AccessSettings): Promise<void> {
  if (await putConfiguredToken(pool, hash)) {
    doorbell.ring({ tokens: true });
    log.info('WFG_ADMIN_TOKEN is new: the token before it, if there was one, is no longer good');
  } else if ((await useToken(pool, hash)) === null) {
    throw new ConfigError(['WFG_ADMIN_TOKEN was revoked: set another one']);
  }
}
