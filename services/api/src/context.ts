// What the routes work with.
import type { Doorbell } from '@wfg/shared/db/doorbell';
import type { ClaimMemory } from '@wfg/shared/queries/claim-memory';
import type { LostClaims } from '@wfg/shared/runtime/lost-claims';
import type { Watched } from '@wfg/shared/runtime/watched';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { WaitingClaims } from './foreign/waiting-claims.ts';
import type { Access } from './access/access.ts';
import type { Gate } from './access/gate.ts';
import type { Feeds } from './live/feeds.ts';
import type { Hub } from './live/hub.ts';

/**
 * `gone` says that the work has been answered for.
 *
 * @throws {WfgError} unavailable, when it is not done, or too late.
 */
export type Paced = <T>(work: (gone: AbortSignal) => Promise<T>) => Promise<T>;

export interface ApiContext {
  pool: pg.Pool;
  doorbell: Doorbell;
  log: Logger;
  hub: Hub;
  feeds: Feeds;
  /** Whose logs are followed, here or on other apis. */
  watched: Watched;
  /**
   * Work with the database: in its turn, and no longer than the database answers. All routes but one are called by it,
   * with the body there.
   */
  paced: Paced;
  /** To be told what a request failed of: perhaps the database is away. */
  doubt: (error: unknown) => void;
  waiting: WaitingClaims;
  lostClaims: LostClaims;
  claimMemory: ClaimMemory;
  /** Of the log of an attempt. */
  logMaxBytes: number;
  access: Access;
  gate: Gate;
  /** Why the process cannot do its work at the moment; empty if it can. */
  reasons: () => string[];
}
