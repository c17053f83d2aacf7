// The database of `wfg up`: the one that DATABASE_URL names, or PostgreSQL from npm, kept running.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '@wfg/shared/rules/message-of';
import { retryPause } from '@wfg/shared/rules/pause';
import { configFields } from '@wfg/shared/runtime/config-fields';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@wfg/shared/runtime/embedded-postgres';
import { parseEnv } from '@wfg/shared/runtime/env';
import type { Logger } from 'pino';

interface UpDatabase extends AsyncDisposable {
  url: string;
  /** The file that has the URL, with the password, for its owner alone; null where it is the user who has it. */
  file: string | null;
  /** Ours alone: nobody else's workers use it. */
  isEmbedded: boolean;
  /** What services get to find it. */
  env: NodeJS.ProcessEnv;
  /** Rejects when it is gone for good. */
  failed: Promise<never>;
}

const TRIES = 5;

/** The services' environment without what names a database. */
const UNSET = {
  DATABASE_URL_FILE: undefined,
  DATABASE_DIRECT_URL: undefined,
  DATABASE_DIRECT_URL_FILE: undefined,
};

export async function openDatabase(
  env: NodeJS.ProcessEnv,
  dataDir: string,
  log: Logger,
): Promise<UpDatabase> {
  if (env.DATABASE_URL || env.DATABASE_URL_FILE) {
    const { DATABASE_URL: url } = parseEnv(configFields.pick({ DATABASE_URL: true }), env);
    const { promise: failed } = Promise.withResolvers<never>();
    return { url, file: null, isEmbedded: false, env: {}, failed, async [Symbol.asyncDispose]() {} };
  }
  const start = () => startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres'), log });
  let server = await start();
  const { url } = server;
  const file = join(dataDir, 'database-url');
  await writeFile(file, `${url}\n`, { mode: 0o600 });
  const stopping = new AbortController();
  const kept = keep();
  kept.catch(() => undefined);

  /** Services reconnect by themselves, to the same address. */
  async function keep(): Promise<never> {
    for (;;) {
      await server.ended;
      if (stopping.signal.aborted) return new Promise(() => undefined);
      log.warn('the database has ended by itself: starting it again');
      await server.stop();
      server = await startAgain();
      if (server.url !== url)
        throw new Error('the database could not come back on its port: start wfg again');
    }
  }

  async function startAgain(): Promise<EmbeddedPostgres> {
    for (let tries = 1; ; tries++) {
      try {
        return await start();
      } catch (err) {
        if (tries === TRIES) throw err;
        log.warn(messageOf(err));
        await sleep(retryPause(tries));
      }
    }
  }

  return {
    url,
    file,
    isEmbedded: true,
    env: { ...UNSET, DATABASE_URL: url },
    failed: kept,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await rm(file, { force: true });
      await server.stop();
    },
  };
}
