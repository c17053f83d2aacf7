// What screen readers are told without being asked: changes of state, gathered so that a burst is one sentence.
import { signal } from '@preact/signals';

const GATHER_MS = 1000;
const MOST = 3;

const spoken = signal('');
let waiting: string[] = [];

/** Says the text politely, together with what else is said within a second. */
export function announce(text: string): void {
  waiting.push(text);
  if (waiting.length > 1) return;
  setTimeout(() => {
    const last = waiting.at(-1) ?? '';
    spoken.value =
      waiting.length > MOST ? `${waiting.length} changes, the last: ${last}` : waiting.join(', ');
    waiting = [];
  }, GATHER_MS);
}

export function Announcer() {
  return (
    <div class="unseen" role="status" aria-live="polite">
      {spoken}
    </div>
  );
}
