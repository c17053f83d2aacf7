// All handler hosts of a worker: one for each module.
import { startLoop } from '@wfg/shared/runtime/loop';
import { type HandlerHost, keepHandlerHost } from './handler-host.ts';
import type { HostSettings } from './host-life.ts';

interface HostsSettings extends Omit<HostSettings, 'file'> {
  /** Their files. */
  modules: readonly string[];
  onLabels: () => void;
  /** How long to wait before looking for jobs unasked: hosts hear no bells but by this worker. */
  pollMs: () => number;
}

/** With no modules it does nothing. */
export function keepHosts({ modules, onLabels, pollMs, ...settings }: HostsSettings): HandlerHost {
  const hosts = modules.map((file) => keepHandlerHost({ ...settings, file }, onLabels));
  const looking = startLoop({
    name: 'look',
    log: settings.log,
    step: async () => {
      for (const host of hosts) host.look();
      return pollMs();
    },
  });
  return {
    look: () => looking.wake(),
    drain: async () => void (await Promise.all(hosts.map((host) => host.drain()))),
    kill: () => hosts.forEach((host) => host.kill()),
    labels: () => [...new Set(hosts.flatMap((host) => host.labels()))].sort(),
    reasons: () => hosts.flatMap((host) => host.reasons()),
    async [Symbol.asyncDispose]() {
      await looking[Symbol.asyncDispose]();
      await Promise.all(hosts.map((host) => host[Symbol.asyncDispose]()));
    },
  };
}
