// Keeps what a failed row leaves for whoever looks into it: it would be gone with its processes and its database.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster } from '../support/cluster.ts';

const SERVICES = ['api', 'scheduler', 'reaper', 'worker'] as const;

/** Writes the logs of all processes, and what else is given, into a new folder; returns its path. */
export async function keepLogs(cluster: Cluster, rest: Record<string, unknown>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'wfg-chaos-'));
  for (const service of SERVICES) {
    for (const [index, { logs }] of cluster.of(service).entries())
      await writeFile(
        join(folder, `${service}-${index + 1}.log`),
        logs.map((line) => `${JSON.stringify(line)}\n`),
      );
  }
  for (const [name, value] of Object.entries(rest))
    await writeFile(join(folder, `${name}.json`), JSON.stringify(value, null, 1));
  return folder;
}
