// Real rows move only as the table of moves says.
import { reapExpired } from '@wfg/shared/queries/reap';
import { MOVES } from '@wfg/shared/rules/states';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { advance, cancel, claim, finish, moveClock, submit } from '../../support/engine.ts';
import { testDatabase } from '../../support/postgres.ts';

/** Notes each change of a state as `from>to`. */
async function watchMoves(pool: Pool): Promise<() => Promise<string[]>> {
  await pool.query(`
    create table moves (move text);
    create function note_move() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then insert into moves values ('new>' || new.state);
      elsif old.state <> new.state then insert into moves values (old.state || '>' || new.state);
      end if;
      return null;
    end $$;
    create trigger note_move after insert or update on wfg_jobs for each row execute function note_move()`);
  return async () => {
    const { rows } = await pool.query<{ move: string }>('select distinct move from moves order by move');
    return rows.map((row) => row.move);
  };
}

test('runs that complete, fail, are retried, lost and cancelled use moves of the table only', async () => {
  await using db = await testDatabase();
  const moves = await watchMoves(db.pool);
  await submit(db.pool, {
    a: {},
    b: { needs: 'a' },
    c: { retries: 1 },
    d: { needs: 'c' },
    e: {},
    f: { needs: 'e' },
  });
  const [a, c, e] = await claim(db.pool);
  if (!a || !c || !e) throw new Error('a root is missing');
  await finish(db.pool, a);
  await finish(db.pool, c, { outcome: 'failed' });
  await finish(db.pool, e, { outcome: 'failed', retryable: false });
  await advance(db.pool);
  await claim(db.pool);
  await moveClock(db.pool, '1 hour');
  await reapExpired(db.pool, 10);
  await advance(db.pool);

  const cancelled = await submit(db.pool, { x: {}, y: { needs: 'x' }, z: {} });
  const [x] = await claim(db.pool, { limit: 1 });
  await cancel(db.pool, cancelled);
  if (x) await finish(db.pool, x);
  await advance(db.pool);

  const allowed = new Set(MOVES.map(({ from, to }) => `${from}>${to}`));
  const seen = await moves();
  expect(seen.filter((move) => !allowed.has(move))).toEqual([]);
  expect(seen).toEqual([
    'active>cancelled',
    'active>completed',
    'active>failed',
    'active>pending',
    'blocked>cancelled',
    'blocked>pending',
    'blocked>skipped',
    'new>blocked',
    'new>pending',
    'pending>active',
    'pending>cancelled',
  ]);
});
