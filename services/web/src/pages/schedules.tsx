// Schedules: when each ticks, what it starts, and what came of it.
import { useSignal } from '@preact/signals';
import type { Schedule } from '@wfg/shared/contract/schedule';
import {
  deleteSchedule,
  getNextTicks,
  getSchedules,
  getTicks,
  pauseSchedule,
  resumeSchedule,
  runSchedule,
} from '../api/schedules.ts';
import { Confirm } from '../parts/confirm.tsx';
import { ListPage } from '../parts/list-page.tsx';
import { Notice } from '../parts/notice.tsx';
import { useAction } from '../parts/use-action.ts';
import { navigate, pathTo, runPath } from '../router.ts';
import { momentText } from '../time-text.ts';
import { usePoll } from '../use-poll.ts';

const EVERY_MS = 5_000;

export function SchedulesPage() {
  return (
    <ListPage
      title="Schedules"
      page="schedules"
      things="schedules"
      load={(_, cursor, signal) => getSchedules(cursor, signal)}
      everyMs={EVERY_MS}
      empty={
        <p>
          Nothing is started on time yet. Give a workflow an <code>on: schedule</code>, or{' '}
          <code>POST /api/schedules</code>.
        </p>
      }
    >
      {(schedules) => schedules.map((schedule) => <ScheduleCard key={schedule.id} schedule={schedule} />)}
    </ListPage>
  );
}

function ScheduleCard({ schedule }: { schedule: Schedule }) {
  const { id, cron, timezone, paused, workflow_id, workflow_type, next_at, error } = schedule;
  return (
    <section class="card" aria-label={`Schedule ${id}`}>
      <header>
        <h2>{id}</h2>
        <code>{cron}</code> <span class="number">{timezone}</span>
        <ScheduleActions schedule={schedule} />
      </header>
      <dl class="facts">
        <div>
          <dt>Starts</dt>
          <dd>
            {workflow_id === null ? (
              `event ${workflow_type}`
            ) : (
              <a href={pathTo('workflow', { workflow: workflow_id })}>{workflow_id}</a>
            )}
          </dd>
        </div>
        <div>
          <dt>Next</dt>
          <dd>{paused ? 'paused' : next_at === null ? 'never again' : momentText(next_at)}</dd>
        </div>
      </dl>
      {error && <Notice>The last tick started nothing: {error}</Notice>}
      <Times id={id} />
    </section>
  );
}

function ScheduleActions({ schedule: { id, paused, source } }: { schedule: Schedule }) {
  const action = useAction();
  const asking = useSignal(false);
  const press = (request: () => Promise<unknown>) => () => void action.start(request);
  return (
    <div class="actions">
      <button
        type="button"
        class="button small"
        disabled={action.isSent.value}
        onClick={press(async () => navigate(runPath(await runSchedule(id))))}
      >
        Run now
      </button>
      <button
        type="button"
        class="button small"
        disabled={action.isSent.value}
        onClick={press(() => (paused ? resumeSchedule(id) : pauseSchedule(id)))}
      >
        {paused ? 'Resume' : 'Pause'}
      </button>
      <button
        type="button"
        class="button small danger"
        disabled={source === 'workflow' || action.isSent.value}
        title={source === 'workflow' ? 'Its workflow asks for it: change that' : undefined}
        onClick={() => (asking.value = true)}
      >
        Delete
      </button>
      {action.problem.value && <Notice>{action.problem.value}</Notice>}
      {asking.value && (
        <Confirm
          title={`Delete schedule ${id}?`}
          yes="Delete it"
          no="Keep it"
          onAnswer={(yes) => {
            asking.value = false;
            if (yes) void action.start(() => deleteSchedule(id));
          }}
        >
          <p>It ticks no more, and its ticks are forgotten. The runs that it started stay.</p>
        </Confirm>
      )}
    </div>
  );
}

/** Fetched when it is opened. */
function Times({ id }: { id: string }) {
  const isOpen = useSignal(false);
  return (
    <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>Ticks</summary>
      {isOpen.value && <Ticks id={id} />}
    </details>
  );
}

function Ticks({ id }: { id: string }) {
  const next = usePoll(id, (signal) => getNextTicks(id, signal), 60_000);
  const past = usePoll(id, (signal) => getTicks(id, signal), EVERY_MS);
  const problem = next.problem.value ?? past.problem.value;
  return (
    <>
      {problem && <Notice>{problem}</Notice>}
      <ul class="ticks">
        {next.data.value?.toReversed().map((time) => (
          <li key={time} class="number">
            {momentText(time)}
          </li>
        ))}
        {past.data.value?.map(({ tick_at, outcome, run_id, error }) => (
          <li key={tick_at}>
            {momentText(tick_at)}{' '}
            {outcome === 'fired' && run_id ? <a href={runPath(run_id)}>started</a> : outcome}
            {error && <span class="remark"> {error}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}
