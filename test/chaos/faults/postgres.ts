// PostgreSQL itself ends: in order, and away for longer than a lease; or killed, and back at once.
import { type Fault, LEASE_SECS } from './fault.ts';

const AWAY_MS = (LEASE_SECS + 2) * 1_000;

export const restart: Fault = {
  name: 'Postgres restart',
  strike: ({ postgres }) => postgres.restart(AWAY_MS),
};

export const kill: Fault = {
  name: 'Postgres kill -9',
  strike: ({ postgres }) => postgres.kill(),
};
