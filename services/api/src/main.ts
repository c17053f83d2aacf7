// The api: HTTP, WebSocket, the browser client's files. Any number of copies may run.

// First: it adds to the schemas of zod what describes them, and only to those that are made after it.
import '@hono/zod-openapi';
import { setFlagsFromString } from 'node:v8';
import { configFields, SERVICE_FIELDS } from '@wfg/shared/runtime/config-fields';
import { runService } from '@wfg/shared/runtime/run-service';
import { startApi } from './api.ts';

const schema = configFields.pick({
  ...SERVICE_FIELDS,
  DATABASE_URL: true,
  DATABASE_DIRECT_URL: true,
  PORT: true,
  WORKFLOWS_DIR: true,
  CORS_ORIGINS: true,
  LOG_MAX_BYTES: true,
  WS_MAX_FRAME_BYTES: true,
  WS_MAX_SUBSCRIPTIONS: true,
  WS_MAX_VIEWERS: true,
  WS_MAX_PER_TOKEN: true,
  WFG_ADMIN_TOKEN: true,
});

// What logs leave behind is collected soon: otherwise the heap grows by 100 MB before V8 looks for it.
setFlagsFromString('--optimize-for-size');

await runService('api', schema, startApi);
