// The machine's name as it may stand in an id.
import { hostname } from 'node:os';

/** At most 200 of A-Z a-z 0-9 _ . -, so that there is room for what makes the id unique. */
export function hostName(): string {
  return hostname()
    .replaceAll(/[^A-Za-z0-9_.-]/g, '-')
    .slice(0, 200);
}
