// Standalone events, newest first, and the dialog that stores one.
import { useSignal } from '@preact/signals';
import type { Event, EventStatus } from '@wfg/shared/contract/event';
import { createEvent, getEvents } from '../api/events.ts';
import { Dialog } from '../parts/dialog.tsx';
import type { Face } from '../parts/face.ts';
import type { Filter } from '../parts/filters.tsx';
import { ListPage } from '../parts/list-page.tsx';
import { Notice } from '../parts/notice.tsx';
import { Status } from '../parts/status.tsx';
import { Age } from '../parts/time.tsx';
import { useAction } from '../parts/use-action.ts';
import { navigate, runPath } from '../router.ts';

const EVERY_MS = 3_000;

const FACES: Record<EventStatus, Face> = {
  pending: { icon: 'ring', word: 'Pending', tone: 'wait' },
  processing: { icon: 'arc', word: 'Processing', tone: 'run' },
  completed: { icon: 'check', word: 'Completed', tone: 'good' },
  failed: { icon: 'cross', word: 'Waits for a retry', tone: 'warn' },
  dead_lettered: { icon: 'cross', word: 'Dead letter', tone: 'bad' },
  cancelled: { icon: 'stop', word: 'Cancelled', tone: 'warn' },
};
const STATUSES = [
  'pending',
  'processing',
  'completed',
  'failed',
  'dead_lettered',
  'cancelled',
] satisfies EventStatus[];
const FILTERS: readonly Filter[] = [
  { name: 'status', label: 'Status', options: STATUSES.map((one) => [one, FACES[one].word]) },
  { name: 'type', label: 'Type' },
];

export function EventsPage() {
  const making = useSignal(false);
  return (
    <>
      <ListPage
        title="Events"
        page="events"
        things="events"
        filters={FILTERS}
        actions={
          <button type="button" class="button" onClick={() => (making.value = true)}>
            New event…
          </button>
        }
        load={({ status, type }, cursor, signal) =>
          getEvents({ status: STATUSES.find((one) => one === status), workflow_type: type }, cursor, signal)
        }
        everyMs={EVERY_MS}
        empty={
          <p>
            No event has been stored yet: <code>POST /workflows</code>, or <code>wfg enqueue TYPE</code>.
          </p>
        }
      >
        {(events) => <EventTable events={events} />}
      </ListPage>
      {making.value && <NewEvent onClose={() => (making.value = false)} />}
    </>
  );
}

function EventTable({ events }: { events: readonly Event[] }) {
  return (
    <table class="table">
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col">Status</th>
          <th scope="col" class="figure wide-only">
            Tries
          </th>
          <th scope="col" class="figure">
            Created
          </th>
        </tr>
      </thead>
      <tbody>
        {events.map(
          ({
            id,
            workflow_type,
            payload,
            status,
            attempts,
            max_attempts,
            last_error,
            created_at,
            waiting,
          }) => (
            <tr key={id} class="linked">
              <th scope="row">
                <a class="row-link" href={runPath(id)}>
                  <bdi>{workflow_type}</bdi>
                </a>
                <p class="remark payload">
                  {last_error?.split('\n', 1)[0] ?? waiting?.detail ?? JSON.stringify(payload)}
                </p>
              </th>
              <td>
                <Status face={FACES[status]} />
              </td>
              <td class="figure wide-only">
                {attempts} of {max_attempts}
              </td>
              <td class="figure">
                <Age of={created_at} />
              </td>
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}

/** Checked as it is typed, so that the server is not asked for what it cannot take. */
function NewEvent({ onClose }: { onClose: () => void }) {
  const type = useSignal('');
  const text = useSignal('{}');
  const action = useAction();
  const key = useSignal(crypto.randomUUID());
  const fault = faultOf(text.value);

  async function store(): Promise<void> {
    await action.start(async () =>
      navigate(runPath(await createEvent(type.value, JSON.parse(text.value), key.value))),
    );
  }

  return (
    <Dialog title="New event" onClose={onClose}>
      <form
        class="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          void store();
        }}
      >
        <label>
          Type
          <input
            class="field"
            required
            placeholder="user.created"
            value={type.value}
            onInput={(event) => (type.value = event.currentTarget.value)}
          />
        </label>
        <label>
          Payload (JSON)
          <textarea
            class="field mono"
            rows={6}
            value={text.value}
            aria-invalid={fault !== null}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
        </label>
        {fault && <Notice>{fault}</Notice>}
        {action.problem.value && <Notice>{action.problem.value}</Notice>}
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Not now
          </button>
          <button class="button strong" disabled={type.value === '' || fault !== null || action.isSent.value}>
            Store
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** What is wrong with a text of JSON; null when nothing is. */
function faultOf(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : 'not JSON';
  }
}
