// All handler hosts of a worker: one for each module.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DEMONSTRATION } from '@wfg/shared/runtime/module-files';
import { type HandlerHost, type HandlerHostSettings, keepHandlerHost } from './handler-host.ts';

const SHIPPED = fileURLToPath(new URL('handlers/demonstration.ts', import.meta.url));

interface HostsSettings extends Omit<HandlerHostSettings, 'file' | 'refuse'> {
  /** As WFG_MODULES names them. */
  modules: readonly string[];
}

export interface HandlerHosts extends HandlerHost {
  /** Of each module the labels of what it handles, as far as that is known. */
  modules: () => (readonly string[])[];
}

/** With no modules it does nothing. */
export function keepHosts({ modules, ...settings }: HostsSettings): HandlerHosts {
  const files = new Set(modules.map((name) => (name === DEMONSTRATION ? SHIPPED : resolve(name))));
  const byFile = new Map<string, HandlerHost>();
  for (const file of files) {
    const refuse = (labels: readonly string[]) => twinOf(file, labels);
    byFile.set(file, keepHandlerHost({ ...settings, file, refuse }));
  }
  const hosts = [...byFile.values()];

  /** Of two modules that handle the same the first to be loaded does, for as long as the worker lives. */
  function twinOf(file: string, labels: readonly string[]): string | null {
    for (const [other, host] of byFile) {
      const same = other === file ? undefined : labels.find((label) => host.labels().includes(label));
      if (same !== undefined)
        return `it handles ${same.slice(1)}, as does ${other}: leave it to one of the two`;
    }
    return null;
  }

  return {
    look: (why, fits) => hosts.forEach((host) => host.look(why, fits)),
    watch: (jobKeys) => hosts.forEach((host) => host.watch(jobKeys)),
    drain: async () => void (await Promise.all(hosts.map((host) => host.drain()))),
    kill: () => hosts.forEach((host) => host.kill()),
    modules: () => hosts.map((host) => host.labels()),
    labels: () => [...new Set(hosts.flatMap((host) => host.labels()))].sort(),
    reasons: () => hosts.flatMap((host) => host.reasons()),
    async [Symbol.asyncDispose]() {
      await Promise.all(hosts.map((host) => host[Symbol.asyncDispose]()));
    },
  };
}
