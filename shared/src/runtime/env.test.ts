import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { configFields } from './config-fields.ts';
import { ConfigError, parseEnv, redacted } from './env.ts';

const folder = mkdtempSync(join(tmpdir(), 'wfg-env-'));
afterAll(() => rmSync(folder, { recursive: true }));

const DATABASE_URL = 'postgres://me:secret@db:5432/wfg';

function problems(env: Record<string, string>): string[] {
  try {
    parseEnv(configFields, env);
    return [];
  } catch (err) {
    if (!(err instanceof ConfigError)) throw err;
    return err.message.split('\n');
  }
}

test('defaults', () => {
  const { WORKER_ID, ...rest } = parseEnv(configFields, { DATABASE_URL });
  expect(WORKER_ID).toMatch(/^[A-Za-z0-9_.-]+-[0-9a-f]{8}$/);
  expect(rest).toEqual({
    DATABASE_URL,
    DATABASE_DIRECT_URL: DATABASE_URL,
    HOST: '127.0.0.1',
    PORT: 3_000,
    HEALTH_PORT: 0,
    LOG_LEVEL: 'info',
    WFG_DATA_DIR: './.wfg',
    WORKFLOWS_DIR: 'workflows',
    WFG_MODULES: ['demonstration'],
    WORKER_LABELS: [],
    WORKER_CONCURRENCY: availableParallelism(),
    HANDLER_CONCURRENCY: 100,
    LEASE_TTL_SECS: 30,
    REAP_INTERVAL_SECS: 5,
    SHUTDOWN_GRACE_SECS: 8,
    KILL_GRACE_SECS: 5,
    RETENTION_RUNS_DAYS: 30,
    RETENTION_LOGS_DAYS: 14,
    LOG_MAX_BYTES: 67_108_864,
    WS_MAX_FRAME_BYTES: 65_536,
    WS_MAX_SUBSCRIPTIONS: 200,
    WS_MAX_VIEWERS: 2_000,
    WS_MAX_PER_TOKEN: 1_500,
    CORS_ORIGINS: [],
  });
});

test('values are read as their kind', () => {
  const config = parseEnv(configFields, {
    DATABASE_URL,
    DATABASE_DIRECT_URL: 'postgres:///wfg?host=/run/postgresql',
    PORT: '0',
    WORKER_LABELS: ' gpu, linux ,,gpu',
    CORS_ORIGINS: 'https://a.example,http://localhost:5173',
  });
  expect(config).toMatchObject({
    DATABASE_DIRECT_URL: 'postgres:///wfg?host=/run/postgresql',
    PORT: 0,
    WORKER_LABELS: ['gpu', 'linux'],
    CORS_ORIGINS: ['https://a.example', 'http://localhost:5173'],
  });
});

test('an empty variable is not set', () => {
  expect(parseEnv(configFields, { DATABASE_URL, PORT: '', DATABASE_DIRECT_URL: '' })).toMatchObject({
    PORT: 3_000,
    DATABASE_DIRECT_URL: DATABASE_URL,
  });
});

test('only what the schema names is looked at', () => {
  expect(parseEnv(configFields.pick({ PORT: true }), { PORT: '1', LOG_LEVEL: 'nonsense' })).toEqual({
    PORT: 1,
  });
});

test('all that is wrong is said at once, a line each, and without secrets', () => {
  const found = problems({
    DATABASE_URL: 'mysql://me:secret@db/wfg',
    WFG_ADMIN_TOKEN: 'my secret token is this',
    PORT: '70000',
    LEASE_TTL_SECS: '1.5',
    LOG_LEVEL: 'loud',
    WORKER_ID: '..',
    WORKER_LABELS: ':command',
    CORS_ORIGINS: 'https://a.example/',
  });
  expect(found.map((line) => line.split(' ')[0])).toEqual([
    'DATABASE_URL',
    'PORT',
    'LOG_LEVEL',
    'WORKER_LABELS',
    'WORKER_ID',
    'LEASE_TTL_SECS',
    'CORS_ORIGINS',
    'WFG_ADMIN_TOKEN',
  ]);
  expect(found[1]).toBe('PORT must be a whole number from 0 to 65535, and is "70000"');
  expect(found.join()).not.toContain('secret');
});

test.each(['a label', 'x'.repeat(101), 'gpu,:event'])(
  'what no job can require, no worker offers: %s',
  (labels) => {
    expect(problems({ DATABASE_URL, WORKER_LABELS: labels })).toEqual([
      expect.stringMatching(
        /^WORKER_LABELS must be labels separated by commas, and each must be 1 to 100 characters/,
      ),
    ]);
  },
);

test('a missing variable is named once, also if another falls back to it', () => {
  expect(problems({})).toEqual([
    'DATABASE_URL must be set, like postgres://user:password@host:5432/database',
  ]);
});

test('an address that is none of PostgreSQL is not said to be missing', () => {
  expect(problems({ DATABASE_URL: 'mysql://me:secret@host/x' })).toEqual([
    'DATABASE_URL must be a URL like postgres://user:password@host:5432/database',
  ]);
});

test('a secret can be in a file, also the one another falls back to', () => {
  const file = join(folder, 'url');
  writeFileSync(file, `${DATABASE_URL}\n`);
  expect(parseEnv(configFields, { DATABASE_URL_FILE: file })).toMatchObject({
    DATABASE_URL,
    DATABASE_DIRECT_URL: DATABASE_URL,
  });
  expect(problems({ DATABASE_URL, DATABASE_URL_FILE: file })).toEqual([
    'DATABASE_URL and DATABASE_URL_FILE are both set: remove one',
  ]);
});

test('a token is at least 16 characters, also in a file', () => {
  const advice =
    'WFG_ADMIN_TOKEN must be 16 to 1,024 visible ASCII characters: make one by "openssl rand -hex 32"';
  for (const token of ['x'.repeat(15), 'sixteen letters ok', 'sixteen-lètters-ok', 'x'.repeat(1_025)]) {
    expect(problems({ DATABASE_URL, WFG_ADMIN_TOKEN: token })).toEqual([advice]);
  }
  const file = join(folder, 'token');
  writeFileSync(file, '\n');
  expect(problems({ DATABASE_URL, WFG_ADMIN_TOKEN_FILE: file })).toEqual([advice]);
  writeFileSync(file, `${'x'.repeat(16)}\n`);
  expect(parseEnv(configFields, { DATABASE_URL, WFG_ADMIN_TOKEN_FILE: file })).toMatchObject({
    WFG_ADMIN_TOKEN: 'x'.repeat(16),
  });
});

test('a secret file that cannot be read is a problem', () => {
  const found = problems({ DATABASE_URL_FILE: join(folder, 'missing') });
  expect(found[0]).toMatch(/^DATABASE_URL_FILE cannot be read: ENOENT/);
});

test('what is not a secret cannot be in a file', () => {
  expect(parseEnv(configFields, { DATABASE_URL, HOST_FILE: join(folder, 'missing') }).HOST).toBe('127.0.0.1');
});

test('a configuration is shown without its secrets', () => {
  const shown = redacted(
    configFields,
    parseEnv(configFields, {
      DATABASE_URL,
      DATABASE_DIRECT_URL: 'postgres://me@db/wfg?password=secret&sslmode=require',
      // A URL as well, and no place in it is for what may be seen.
      WFG_ADMIN_TOKEN: 'token:the-secret-that-nobody-sees',
    }),
  );
  expect(JSON.stringify(shown)).not.toContain('secret');
  expect(shown).toMatchObject({
    DATABASE_URL: 'postgres://me:***@db:5432/wfg',
    DATABASE_DIRECT_URL: 'postgres://me@db/wfg?password=***&sslmode=require',
    WFG_ADMIN_TOKEN: '***',
    PORT: 3_000,
  });
});

test('modules that cannot be run are all named, each with why', () => {
  writeFileSync(join(folder, 'good.ts'), '');
  writeFileSync(join(folder, 'bad.py'), '');
  const good = join(folder, 'good.ts');
  const { WFG_MODULES } = parseEnv(configFields, {
    DATABASE_URL,
    WFG_MODULES: `${good}, demonstration,${good}`,
  });
  expect(WFG_MODULES).toEqual([good, 'demonstration']);
  const wrong = [folder, 'no/handlers.ts', join(folder, 'bad.py')];
  expect(problems({ DATABASE_URL, WFG_MODULES: [good, ...wrong].join() })).toEqual([
    expect.stringMatching(
      /^WFG_MODULES names no module by .*: it is a folder: name a file in it; no\/handlers\.ts: there is no file \/.*\/no\/handlers\.ts; .*bad\.py: its ending is none of \.ts .*/,
    ),
  ]);
});
