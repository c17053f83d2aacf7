// For feeds of a test in which nobody writes logs who would have to be told.
import type { Watch } from '../../services/api/src/live/watch.ts';

export const noWatch: Watch = {
  add: () => ({ [Symbol.dispose]: () => undefined }),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
