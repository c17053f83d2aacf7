// Hears what is rung on the bell's channel.
import { BELL_CHANNEL, type Bell, parseBell } from '@wfg/shared/contract/bell';
import { Client } from 'pg';

export interface Ear extends AsyncDisposable {
  /** What has been heard so far, oldest first. */
  bells: Bell[];
}

/** A plain listener that keeps what it hears. */
export async function listener(url: string): Promise<Ear> {
  const client = new Client({ connectionString: url });
  const bells: Bell[] = [];
  client.on('notification', ({ payload }) => {
    const heard = parseBell(payload);
    if ('bell' in heard) bells.push(heard.bell);
  });
  await client.connect();
  await client.query(`listen ${BELL_CHANNEL}`);
  return { bells, [Symbol.asyncDispose]: () => client.end() };
}
