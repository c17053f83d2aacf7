// Something that goes wrong while a cluster works, and ends.
import type { Pool } from 'pg';
import type { Cluster } from '../../support/cluster.ts';
import type { TcpProxy } from '../../support/tcp-proxy.ts';
import type { OwnPostgres } from '../../support/own-postgres.ts';

export interface Scene {
  cluster: Cluster;
  postgres: OwnPostgres;
  /** Of the test itself, past the link. */
  pool: Pool;
  /** By which all, or what listens alone, reaches the database. */
  link: TcpProxy;
}

export interface Fault {
  name: string;
  /** What goes by the link. */
  by?: 'everything' | 'listening';
  /** Attempts may be lost by it: their worker cannot go on. */
  loses?: true;
  /** Resolves when it is over. */
  strike: (scene: Scene) => Promise<void>;
}

/** Leases in the suite, in seconds. */
export const LEASE_SECS = 3;
