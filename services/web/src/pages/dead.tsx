// Dead letters: what has stopped and waits for a person, grouped by why.
import { useSignal } from '@preact/signals';
import type { DeadLetter } from '@wfg/shared/contract/task';
import { getDead, requeueAll } from '../api/dead.ts';
import { retryRun } from '../api/runs.ts';
import { reasonOf } from '../parts/dead-reason.ts';
import { Confirm } from '../parts/confirm.tsx';
import { type Filter, filtered } from '../parts/filters.tsx';
import { ListPage } from '../parts/list-page.tsx';
import { Notice } from '../parts/notice.tsx';
import { OperationProgress } from '../parts/operation-progress.tsx';
import { Age } from '../parts/time.tsx';
import { useAction } from '../parts/use-action.ts';
import { runPath } from '../router.ts';

const EVERY_MS = 5_000;
const FILTERS: readonly Filter[] = [{ name: 'type', label: 'Type' }];

export function DeadPage() {
  const operation = useSignal<string | null>(null);
  return (
    <ListPage
      title="Dead letters"
      page="dead"
      things="dead letters"
      filters={FILTERS}
      actions={<RequeueAll onAsked={(id) => (operation.value = id)} />}
      load={({ type }, cursor, signal) => getDead(type, cursor, signal)}
      everyMs={EVERY_MS}
      empty={<p>Nothing waits for you: no event is out of tries, and no task has stopped.</p>}
    >
      {(letters) => (
        <>
          {operation.value && <OperationProgress id={operation.value} done="requeued" />}
          {[...Map.groupBy(letters, ({ error }) => reasonOf(error))].map(([reason, group]) => (
            <Group key={reason} reason={reason} letters={group} />
          ))}
        </>
      )}
    </ListPage>
  );
}

function Group({ reason, letters }: { reason: string; letters: readonly DeadLetter[] }) {
  const types = [...new Set(letters.map(({ workflow_type }) => workflow_type))];
  return (
    <details class="group" open={letters.length <= 3}>
      <summary>
        <b>{letters.length}</b> <span class="reason">{reason}</span>
        <span class="remark">{types.join(', ')}</span>
      </summary>
      <table class="table">
        <tbody>
          {letters.map((letter) => (
            <Letter key={letter.run_id} letter={letter} />
          ))}
        </tbody>
      </table>
    </details>
  );
}

function Letter({ letter }: { letter: DeadLetter }) {
  const action = useAction();
  const isAgain = useSignal(false);
  const { run_id, workflow_type, step, error, tries, max_attempts, failed_at } = letter;
  async function requeue(): Promise<void> {
    isAgain.value = await action.start(() => retryRun(run_id));
  }
  return (
    <tr>
      <th scope="row">
        <a href={runPath(run_id)}>
          <bdi>{workflow_type}</bdi>
        </a>
        {step && <span class="number"> at {step}</span>}
        {error && <p class="remark">{error}</p>}
        {action.problem.value && <Notice>{action.problem.value}</Notice>}
      </th>
      <td class="figure">
        {tries} of {max_attempts} tries
      </td>
      <td class="figure">
        <Age of={failed_at} />
      </td>
      <td class="figure">
        <button
          type="button"
          class="button small"
          disabled={action.isSent.value || isAgain.value}
          onClick={() => void requeue()}
        >
          {isAgain.value ? 'Requeued' : 'Requeue'}
          <span class="unseen">: {workflow_type}</span>
        </button>
      </td>
    </tr>
  );
}

function RequeueAll({ onAsked }: { onAsked: (operation: string) => void }) {
  const asking = useSignal(false);
  const action = useAction();
  const { type } = filtered(FILTERS);

  async function answer(yes: boolean): Promise<void> {
    asking.value = false;
    if (!yes) return;
    await action.start(async () =>
      onAsked(await requeueAll(type === undefined ? {} : { workflow_type: type })),
    );
  }

  return (
    <>
      <button
        type="button"
        class="button"
        disabled={action.isSent.value}
        onClick={() => (asking.value = true)}
      >
        {type === undefined ? 'Requeue all…' : `Requeue all of ${type}…`}
      </button>
      {action.problem.value && <Notice>{action.problem.value}</Notice>}
      {asking.value && (
        <Confirm
          title={type === undefined ? 'Requeue all dead letters?' : `Requeue all dead letters of ${type}?`}
          yes="Requeue them"
          no="Not now"
          onAnswer={(yes) => void answer(yes)}
        >
          <p>
            All of them run again with all their tries, also those on other pages. A task goes on at the step
            where it stopped.
          </p>
        </Confirm>
      )}
    </>
  );
}
