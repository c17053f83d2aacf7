// Every environment variable that processes read, with its default and range. Services pick theirs.

import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { ID_PATTERN, LABEL_PATTERN, LABEL_RULE } from '../contract/workflow.ts';
import { fieldNotes } from './env.ts';
import { hostName } from './host-name.ts';
import { DEMONSTRATION, moduleFault } from './module-files.ts';

/** What every service has; see run-service.ts. */
export const SERVICE_FIELDS = {
  LOG_LEVEL: true,
  HOST: true,
  HEALTH_PORT: true,
  SHUTDOWN_GRACE_SECS: true,
  WFG_PARENT_PID: true,
} as const;

export const configFields = z.object({
  DATABASE_URL: databaseUrl().register(fieldNotes, { secret: 'url' }),
  /** A connection that LISTEN works on, where DATABASE_URL leads through a transaction pooler. */
  DATABASE_DIRECT_URL: databaseUrl().register(fieldNotes, { secret: 'url', sameAs: 'DATABASE_URL' }),
  HOST: z.string().default('127.0.0.1'),
  PORT: whole(0, 65_535).default(3_000),
  /** 0: any free port, which the log names. */
  HEALTH_PORT: whole(0, 65_535).default(0),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      error: 'must be trace, debug, info, warn, error, fatal or silent',
    })
    .default('info'),
  WFG_DATA_DIR: z.string().default('./.wfg'),
  WORKFLOWS_DIR: z.string().default('workflows'),
  /** Modules of handlers and tasks: files, seen from the working directory; `demonstration` ships with the worker. */
  WFG_MODULES: z
    .string()
    .transform(splitAtCommas)
    .check(({ value, issues }) => {
      const faults = value.map(moduleFault).filter((fault) => fault !== null);
      if (faults.length === 0) return;
      issues.push({ code: 'custom', input: value, message: `names no module by ${faults.join('; ')}` });
    })
    .default([DEMONSTRATION]),
  WORKER_LABELS: list(isLabel, `must be labels separated by commas, and each ${LABEL_RULE}`).default([]),
  WORKER_ID: z
    .string()
    .regex(ID_PATTERN, 'must be 1 to 255 of A-Z a-z 0-9 _ . -, and not only one or two dots')
    .default(newWorkerId),
  /** Commands at once. */
  WORKER_CONCURRENCY: whole(1, 1_000).default(availableParallelism),
  /** Handlers at once, of each module. */
  HANDLER_CONCURRENCY: whole(1, 10_000).default(100),
  LEASE_TTL_SECS: whole(1, 86_400).default(30),
  REAP_INTERVAL_SECS: whole(1, 3_600).default(5),
  /** From SIGTERM until what still runs is stopped. */
  SHUTDOWN_GRACE_SECS: whole(0, 3_600).default(8),
  /** From SIGTERM to SIGKILL of a command. */
  KILL_GRACE_SECS: whole(0, 3_600).default(5),
  /** Whole days after its end, of a run or an event, with all that is known of it. Dead letters are kept. */
  RETENTION_RUNS_DAYS: whole(1, 36_500).default(30),
  /** Whole days after an attempt's start, of what it printed. */
  RETENTION_LOGS_DAYS: whole(1, 36_500).default(14),
  /** Of an attempt. */
  LOG_MAX_BYTES: whole(65_536, 2 ** 40).default(64 * 1_024 ** 2),
  /** Of a frame that a WebSocket client sends. */
  WS_MAX_FRAME_BYTES: whole(1_024, 2 ** 24).default(65_536),
  /** Of one WebSocket. */
  WS_MAX_SUBSCRIPTIONS: whole(1, 100_000).default(200),
  /** WebSockets and event streams at once, of an api. */
  WS_MAX_VIEWERS: whole(1, 100_000).default(2_000),
  /** Of them, with the same token or session, or with none. */
  WS_MAX_PER_TOKEN: whole(1, 100_000).default(1_500),
  /** A folder, of secrets, in which commands can read no file. Needs Perl, and a kernel with Landlock. */
  HIDDEN_DIR: z.string().optional(),
  CORS_ORIGINS: list(isOrigin, 'must be origins separated by commas, like https://ci.example.org').default(
    [],
  ),
  /** Asked for by the api, and stored as its SHA-256. */
  WFG_ADMIN_TOKEN: z
    .string()
    .regex(
      /^[!-~]{16,1024}$/,
      `must be 16 to 1,024 visible ASCII characters: make one by "openssl rand -hex 32"`,
    )
    .optional()
    .register(fieldNotes, { secret: 'token' }),
  /** Set by a parent that wants its direct child to stop when it is gone. */
  WFG_PARENT_PID: whole(1, 2 ** 31).optional(),
});

function whole(min: number, max: number) {
  const fits = (value: string) => /^\d{1,16}$/.test(value) && Number(value) >= min && Number(value) <= max;
  return z.string().refine(fits, `must be a whole number from ${min} to ${max}`).transform(Number);
}

function databaseUrl() {
  const like = 'like postgres://user:password@host:5432/database';
  return z.string({ error: `must be set, ${like}` }).refine(isDatabaseUrl, `must be a URL ${like}`);
}

function isDatabaseUrl(value: string): boolean {
  // A user without a host, as in postgres://me@/db?host=/run/postgresql, is fine for pg but not for URL.
  return /^postgres(ql)?:\/\//.test(value) && URL.canParse(value.replace('@/', '@localhost/'));
}

function list(isItem: (item: string) => boolean, error: string) {
  return z
    .string()
    .transform(splitAtCommas)
    .refine((items) => items.every(isItem), error);
}

function splitAtCommas(value: string): string[] {
  const items = value.split(',').map((item) => item.trim());
  return [...new Set(items.filter((item) => item !== ''))];
}

function isLabel(item: string): boolean {
  return LABEL_PATTERN.test(item);
}

function isOrigin(item: string): boolean {
  return URL.parse(item)?.origin === item;
}

function newWorkerId(): string {
  return `${hostName()}-${randomBytes(4).toString('hex')}`;
}
