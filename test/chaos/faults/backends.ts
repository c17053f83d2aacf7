// Connections are ended at random, as an administrator or a failover does.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './fault.ts';

const KILLS = 40;
const MOST_PAUSE_MS = 300;

/** One of wfg's own, which a user may do to its own role's. */
const KILL_ONE = `
  select pg_terminate_backend(pid) from (
    select pid from pg_stat_activity
    where datname = current_database() and usename = current_user and pid <> pg_backend_pid()
      and application_name like 'wfg-%' and application_name <> 'wfg-test'
    order by random() limit 1
  ) victim`;

export const backendKills: Fault = {
  name: 'random backend kills',
  async strike({ pool }) {
    for (let kill = 0; kill < KILLS; kill++) {
      await pool.query(KILL_ONE);
      await sleep(Math.random() * MOST_PAUSE_MS);
    }
  },
};
