// The mode of `npm run test:deaf`, in which no notification reaches anyone.
import { inject } from 'vitest';
import type { TestProcess } from './process.ts';

/** For `test.skipIf`: what is about a bell itself, or stop_worker, which is told by nothing else. */
export const isDeaf = inject('isDeaf');

/** Resolves when a process hears bells; when it never will, at once. */
export async function hears(service: TestProcess): Promise<void> {
  if (!isDeaf) await service.logged('hearing bells');
}
