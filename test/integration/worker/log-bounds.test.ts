// What waits in a worker while the database takes no logs: of each attempt, and of all of them together.
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { type AttemptLog, createLogSink } from '../../../services/worker/src/log-sink.ts';
import { claim, submit } from '../../support/engine.ts';
import { testDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

const log = pino({ level: 'silent' });
const day = new Date().toISOString().slice(0, 10);
const MIB = 1024 * 1024;
const CHUNK = 65_536;

test.for([
  { attempts: 1, least: 2 * MIB, most: 2 * MIB + CHUNK },
  { attempts: 16, least: 32 * MIB, most: 32 * MIB + 16 * CHUNK },
  { attempts: 60, least: 32 * MIB, most: 32 * MIB + 60 * 2 * CHUNK },
])(
  'of $attempts attempts $most characters at most',
  { timeout: 120_000 },
  async ({ attempts, least, most }) => {
    await using database = await testDatabase();
    const { pool } = database;
    await pool.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'refused by somebody'; end $$;
    create trigger refuse before insert on wfg_logs for each row execute function refuse()`);
    await submit(pool, Object.fromEntries(Array.from({ length: attempts }, (_, index) => [`j${index}`, {}])));
    const jobs = await claim(pool, { limit: attempts });
    await using doorbell = createDoorbell(pool, log);
    await using sink = createLogSink(pool, doorbell, log);
    const over = new AbortController();
    let taken = 0;

    async function print(attempt: AttemptLog): Promise<void> {
      const data = 'x'.repeat(CHUNK - 1).concat('\n');
      for (let line = 1; !over.signal.aborted; line++) {
        taken += data.length;
        await attempt.write({
          stream: 'stdout',
          line,
          lines: line,
          bytes: line * CHUNK,
          at: new Date(),
          data,
        });
      }
      await attempt.close();
    }

    const printing = jobs.map((job) => print(sink.open(job, day, () => undefined)));
    expect(printing).toHaveLength(attempts);
    await waitFor('it to be refused', () => sink.problem() !== null);
    expect(taken).toBeGreaterThanOrEqual(least);
    expect(taken).toBeLessThanOrEqual(most);

    over.abort();
    await pool.query('drop trigger refuse on wfg_logs');
    await Promise.all(printing);
    const { rows } = await pool.query('select sum(length(data))::int as chars from wfg_logs');
    expect(rows).toEqual([{ chars: taken }]);
  },
);
