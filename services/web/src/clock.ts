// The time that running durations and ages are shown by: one timer for the page, and none while nobody looks at it.
import { signal } from '@preact/signals';

let timer: ReturnType<typeof setInterval> | undefined;

/** Milliseconds since the epoch, moved on every second while something shows it. */
export const now = signal(Date.now(), {
  watched() {
    this.value = Date.now();
    timer = setInterval(() => (this.value = Date.now()), 1000);
  },
  unwatched() {
    clearInterval(timer);
  },
});
