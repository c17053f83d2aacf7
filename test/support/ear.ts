// Hears what is rung on the bell's channel.
import { BELL_CHANNEL, type Bell, parseBell } from '@wfg/shared/contract/bell';
import { Client } from 'pg';
import { directUrl } from './direct-url.ts';

export interface Ear extends AsyncDisposable {
  /** What has been heard so far, oldest first. */
  bells: Bell[];
}

/** A plain listener that keeps what it hears, also where no notification reaches anyone else. */
export async function listener(url: string): Promise<Ear> {
  const client = new Client({ connectionString: directUrl(url) });
  const bells: Bell[] = [];
  client.on('notification', ({ payload }) => {
    const heard = parseBell(payload);
    if ('bell' in heard) bells.push(heard.bell);
  });
  await client.connect();
  await client.query(`listen ${BELL_CHANNEL}`);
  return { bells, [Symbol.asyncDispose]: () => client.end() };
}
