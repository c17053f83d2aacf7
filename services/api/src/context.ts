// What the routes work with.
import type { Doorbell } from '@wfg/shared/db/doorbell';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Access } from './access/access.ts';
import type { Gate } from './access/gate.ts';
import type { Hub } from './live/hub.ts';

export interface ApiContext {
  pool: pg.Pool;
  doorbell: Doorbell;
  log: Logger;
  hub: Hub;
  /** How long to sleep before reading unasked, in milliseconds. */
  pollMs: () => number;
  access: Access;
  gate: Gate;
  /** Why the process cannot do its work at the moment; empty if it can. */
  reasons: () => string[];
}
