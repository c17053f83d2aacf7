// Which PostgreSQL the tests run on: a given one, else a container, else the embedded one.

import { startEmbeddedPostgres } from '@wfg/shared/runtime/embedded-postgres';
import { pino } from 'pino';

const IMAGE = 'postgres:18';

interface TestServer {
  /** Of a user who may create databases. */
  url: string;
  /** For the line that says what was chosen. */
  description: string;
  stop(): Promise<void>;
}

/**
 * PG_BIN names a folder with initdb and postgres of another version, DATABASE_URL a server that runs already.
 */
export async function chooseServer(env: NodeJS.ProcessEnv): Promise<TestServer> {
  if (env.PG_BIN) return embedded(env.PG_BIN, `the programs in PG_BIN=${env.PG_BIN}`);
  if (env.DATABASE_URL) return { url: env.DATABASE_URL, description: 'DATABASE_URL', stop: async () => {} };
  return (await container()) ?? embedded(undefined, 'embedded PostgreSQL');
}

async function embedded(programs: string | undefined, description: string): Promise<TestServer> {
  const { url, stop } = await startEmbeddedPostgres({
    throwaway: true,
    programs,
    log: pino({ level: 'warn' }),
  });
  return { url, description, stop };
}

/** Undefined without a Docker engine that has the image: pulling it might take minutes, or never end. */
async function container(): Promise<TestServer | undefined> {
  const { getContainerRuntimeClient, ImageName } = await import('testcontainers');
  let client: Awaited<ReturnType<typeof getContainerRuntimeClient>>;
  try {
    client = await getContainerRuntimeClient();
  } catch {
    return undefined;
  }
  if (!(await client.image.exists(ImageName.fromString(IMAGE)))) return undefined;
  // Its helper that removes containers of killed runs would be another image to have.
  process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true';
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  const started = await new PostgreSqlContainer(IMAGE)
    .withCommand([
      'postgres',
      '-c',
      'fsync=off',
      '-c',
      'synchronous_commit=off',
      '-c',
      'full_page_writes=off',
    ])
    .start();
  return {
    url: started.getConnectionUri(),
    description: `a container of ${IMAGE}`,
    stop: async () => {
      await started.stop();
    },
  };
}
