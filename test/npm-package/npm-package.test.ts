// The example that takes a package from npm, lints, tests and packs it, run by ordinary workers against the registry that
// npm is set to here. What it reports is compared with what npm and node find without wfg.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { readWorkflow } from '../../services/cli/src/workflow-body.ts';
import { expect, inject, test } from 'vitest';
import { startCluster } from '../support/cluster.ts';
import { testDatabase } from '../support/postgres.ts';

const FILE = fileURLToPath(new URL('../../deploy/examples/npm-package.yml', import.meta.url));
const PACKAGE = 'minimist@1.2.8';

test('a published package is linted, tested and packed to the same archive', {
  timeout: 900_000,
}, async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database, {
    counts: { worker: 2 },
    env: { LEASE_TTL_SECS: '30', WORKER_CONCURRENCY: '2' },
  });
  const work = await mkdtemp(join(inject('runFolder'), 'work-'));
  const runId = await cluster.submit(await workflow({ WORK: work, ...(await npmSettings()) }));
  const run = await cluster.ended(runId, 850_000);
  expect(run.jobs.map(({ job_id, state, error }) => ({ job_id, state, error }))).toEqual(
    run.jobs.map(({ job_id }) => ({ job_id, state: 'completed', error: null })),
  );

  const published = await publishedPackage(work);
  const report = await cluster.outputs(runId, 'report');
  expect(report).toEqual({
    package: PACKAGE,
    integrity: published.integrity,
    packages_installed: expect.stringMatching(/^[1-9]\d\d$/),
    lint_errors: '0',
    lint_warnings: expect.stringMatching(/^\d+$/),
    // In its unpacked tarball: ls test/*.js | wc -l
    test_files: '15',
    // npx tape 'test/**/*.js' | grep '^# pass'
    tests_passed: '153',
    tests_failed: '0',
    // tar tzf minimist-1.2.8.tgz | wc -l
    files: '24',
    archive_sha256: published.archiveSha256,
    same_as_published: 'true',
  });
  const parts = ['test-1', 'test-2', 'test-3'].map((job) => cluster.outputs(runId, job));
  expect((await Promise.all(parts)).map(({ files }) => files)).toEqual(['5', '5', '5']);
  expect(await readdir(work)).not.toContain(runId);
});

test('without a folder to share it says so at once', async () => {
  await using database = await testDatabase();
  await using cluster = await startCluster(database);
  const runId = await cluster.submit(await workflow({}));
  const { status, jobs } = await cluster.ended(runId);
  expect(status).toBe('failed');
  expect(jobs.find(({ job_id }) => job_id === 'fetch')).toMatchObject({
    state: 'failed',
    tries: 1,
    error: expect.stringContaining('--env WORK='),
  });
});

async function workflow(env: Record<string, string>) {
  const overrides = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return readWorkflow(FILE, await readFile(FILE, 'utf8'), overrides);
}

/** What npm goes by on this machine: commands have none of our environment, nor our home. */
async function npmSettings(): Promise<Record<string, string>> {
  const names = ['userconfig', 'globalconfig', 'registry'];
  const found = names.map(async (name) => [
    `NPM_CONFIG_${name.toUpperCase()}`,
    await npm('config', 'get', name),
  ]);
  const { NODE_EXTRA_CA_CERTS = '' } = process.env;
  return { ...Object.fromEntries(await Promise.all(found)), NODE_EXTRA_CA_CERTS };
}

async function publishedPackage(folder: string): Promise<{ integrity: string; archiveSha256: string }> {
  const file = join(folder, await npm('pack', PACKAGE, '--silent', '--pack-destination', folder));
  return {
    integrity: await npm('view', PACKAGE, 'dist.integrity'),
    archiveSha256: createHash('sha256')
      .update(gunzipSync(await readFile(file)))
      .digest('hex'),
  };
}

async function npm(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', args);
  return stdout.trim();
}
