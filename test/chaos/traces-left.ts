// What a cluster holds open: to see whether anything of its visitors is left when they have gone.
import { readFileSync } from 'node:fs';
import type { Pool } from 'pg';
import type { Cluster } from '../support/cluster.ts';
import { descendantsOf } from '../support/descendants.ts';
import type { ServiceName } from '../support/process.ts';

export interface Traces {
  /** Connections to the apis. */
  visitors: number;
  /** Connections to the database that listen. */
  listeners: number;
  /** All of the services' connections to the database. */
  connections: number;
  /** What the services have started. */
  processes: number;
}

const SERVICES: readonly ServiceName[] = ['api', 'scheduler', 'reaper', 'worker'];
const ESTABLISHED = '01';

export async function tracesOf({ urls, of }: Cluster, pool: Pool): Promise<Traces> {
  const { rows } = await pool.query<{ listeners: number; connections: number }>(
    `select count(*) filter (where application_name like '%-listen')::int as listeners, count(*)::int as connections
     from pg_stat_activity
     where datname = current_database() and application_name like 'wfg-%' and application_name <> 'wfg-test'`,
  );
  const pids = SERVICES.flatMap((name) => of(name).map(({ pid }) => pid));
  const ports = new Set(urls.map((url) => Number(new URL(url).port)));
  return {
    visitors: acceptedBy(ports),
    listeners: rows[0]?.listeners ?? 0,
    connections: rows[0]?.connections ?? 0,
    processes: pids.flatMap(descendantsOf).length,
  };
}

/** Connections that were accepted on these ports of this machine. */
function acceptedBy(ports: ReadonlySet<number>): number {
  const lines = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1);
  return lines.filter((line) => {
    const [, local = '', , state] = line.trim().split(/\s+/);
    return state === ESTABLISHED && ports.has(Number.parseInt(local.split(':')[1] ?? '', 16));
  }).length;
}

/** What there is more of than there was. */
export function moreThan(before: Traces, now: Traces): string[] {
  return Object.entries(now).flatMap(([what, count]) => {
    const were = Object.entries(before).find(([name]) => name === what)?.[1] ?? 0;
    return count > were ? [`${what}: ${count}, and were ${were}`] : [];
  });
}
