// What the routes work with.
import type { Doorbell } from '@wfg/shared/db/doorbell';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { OriginPolicy } from './http/origin.ts';
import type { Hub } from './live/hub.ts';

export interface ApiContext {
  pool: pg.Pool;
  doorbell: Doorbell;
  log: Logger;
  hub: Hub;
  /** How long to sleep before reading unasked, in milliseconds. */
  pollMs: () => number;
  allowsOrigin: OriginPolicy;
  /** Why the process cannot do its work at the moment; empty if it can. */
  reasons: () => string[];
}
