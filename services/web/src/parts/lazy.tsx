// A page whose code is loaded when it is first shown.
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { messageOf } from '../api/call.ts';
import { Notice } from './notice.tsx';

export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  return function Lazy(props: P) {
    const ready = useSignal(loaded !== null);
    const problem = useSignal<string | null>(null);
    useEffect(() => {
      if (!loaded) void begin();
    }, []);

    async function begin(): Promise<void> {
      try {
        loaded = await load();
        ready.value = true;
      } catch (error) {
        // A newer wfg has other files: the page has to be loaded anew.
        problem.value = `${messageOf(error)} Load the page again.`;
      }
    }

    if (problem.value !== null) return <Notice>{problem.value}</Notice>;
    if (!ready.value || !loaded) return <p class="hint">Loading…</p>;
    const Component = loaded;
    return <Component {...props} />;
  };
}
