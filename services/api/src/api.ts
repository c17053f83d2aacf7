// Puts the api together: database, bells, workflow files, HTTP and WebSocket.
import { fileURLToPath } from 'node:url';
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { ClaimMemory } from '@wfg/shared/queries/claim-memory';
import { listen } from '@wfg/shared/db/listen';
import type { Service, Start } from '@wfg/shared/runtime/run-service';
import { createLostClaims } from '@wfg/shared/runtime/lost-claims';
import { servicePool } from '@wfg/shared/runtime/service-pool';
import { Watched } from '@wfg/shared/runtime/watched';
import { createAccess } from './access/access.ts';
import { createGate } from './access/gate.ts';
import { createApp } from './app.ts';
import type { Paced } from './context.ts';
import { createWaitingClaims } from './foreign/waiting-claims.ts';
import { databaseDeadline } from './http/deadline.ts';
import { startHttp } from './http/server.ts';
import { turns } from './http/turns.ts';
import { createFeeds } from './live/feeds.ts';
import { createHub } from './live/hub.ts';
import { attachLive } from './live/live.ts';
import { createWatch } from './live/watch.ts';
import { keepWorkflowFiles } from './workflow-files.ts';

const CLIENT_FOLDER = fileURLToPath(new URL('../../web/dist', import.meta.url));
const POOL_SIZE = 6;
/** Requests to the database: enough to keep its connections busy, and the longest queue that is worth waiting in. */
const TURNS = { atOnce: 3 * POOL_SIZE, waiting: 1_000 };

interface ApiConfig {
  DATABASE_URL: string;
  DATABASE_DIRECT_URL: string;
  HOST: string;
  PORT: number;
  WORKFLOWS_DIR: string;
  CORS_ORIGINS: string[];
  LOG_MAX_BYTES: number;
  WS_MAX_FRAME_BYTES: number;
  WS_MAX_SUBSCRIPTIONS: number;
  WS_MAX_VIEWERS: number;
  WS_MAX_PER_TOKEN: number;
  WFG_ADMIN_TOKEN?: string | undefined;
}

/** Resolves when the workflow files have been read and requests are served. */
export async function startApi({ config, log, ...starting }: Start<ApiConfig>): Promise<Service> {
  await using stack = new AsyncDisposableStack();
  const pool = await servicePool(
    stack,
    { url: config.DATABASE_URL, name: 'api', max: POOL_SIZE, log },
    starting,
  );

  const hub = createHub({ viewers: config.WS_MAX_VIEWERS, viewersOfOne: config.WS_MAX_PER_TOKEN });
  const doorbell = stack.use(createDoorbell(pool, log));
  const watch = stack.use(createWatch(doorbell, log));
  const watched = new Watched();
  const feeds = stack.use(createFeeds({ pool, log, pollMs: () => listening.pollMs(), watch }));
  const lostClaims = stack.use(createLostClaims(pool, doorbell, log));
  const access = stack.use(await createAccess({ pool, log, hub, doorbell, config }));
  const waiting = createWaitingClaims({ pool, log, pollMs: () => listening.pollMs() });
  const listening = stack.use(
    listen({
      url: config.DATABASE_DIRECT_URL,
      name: 'api',
      log,
      onBell(bell) {
        feeds.hear(bell);
        waiting.hear(bell);
        if (bell.watch) watched.add(bell.watch);
        if (bell.tokens) access.look();
      },
      onResync() {
        feeds.hear({ v: 1, all: true });
        waiting.hear({ v: 1, all: true });
        access.look();
      },
    }),
  );
  const deadline = stack.use(databaseDeadline(pool, config.DATABASE_URL, log));
  const files = stack.use(await keepWorkflowFiles(pool, config.WORKFLOWS_DIR, log));
  const reasons = () =>
    [listening.deafReason(), deadline.problem(), files.problem(), lostClaims.problem()].filter(
      (reason) => reason !== null,
    );

  const takeTurn = turns(TURNS);
  const paced: Paced = (work) => deadline.watch((gone) => takeTurn(gone, () => work(gone)));
  const gate = createGate(access, config.CORS_ORIGINS);
  const logMaxBytes = config.LOG_MAX_BYTES;
  const claimMemory = new ClaimMemory();
  const app = createApp(
    {
      pool,
      doorbell,
      log,
      hub,
      feeds,
      watched,
      paced,
      doubt: deadline.doubt,
      waiting,
      lostClaims,
      claimMemory,
      logMaxBytes,
      access,
      gate,
      reasons,
    },
    { trustedOrigins: config.CORS_ORIGINS, clientFolder: CLIENT_FOLDER },
  );
  const http = stack.use(
    await startHttp(config.HOST, config.PORT, async (request, env) => app.fetch(request, env)),
  );
  stack.use(waiting);
  stack.use(
    attachLive(http.server, {
      pool,
      log,
      hub,
      feeds,
      gate,
      deadline,
      maxFrameBytes: config.WS_MAX_FRAME_BYTES,
      maxSubscriptions: config.WS_MAX_SUBSCRIPTIONS,
    }),
  );
  log.info({ url: http.url }, 'listening');
  const running = stack.move();
  return { reasons, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
