// How far something is that is done for many at once.
import { getOperation } from '../api/dead.ts';
import { usePoll } from '../use-poll.ts';
import { Notice } from './notice.tsx';

const EVERY_MS = 500;

export function OperationProgress({ id, done: word }: { id: string; done: string }) {
  const { data, problem } = usePoll(id, (signal) => getOperation(id, signal), EVERY_MS);
  const operation = data.value;
  if (problem.value) return <Notice>{problem.value}</Notice>;
  if (operation === null) return <p class="hint">Asked for…</p>;
  const { total, done, finished_at } = operation;
  return (
    <p class="progress" role="status">
      <progress max={Math.max(1, total)} value={finished_at === null ? done : Math.max(1, total)}>
        {done} of {total}
      </progress>{' '}
      {done.toLocaleString()} of {total.toLocaleString()} {word}
      {finished_at !== null && ': done'}
    </p>
  );
}
