// All runs, newest first, as they come and change.
import type { RunKind } from '@wfg/shared/contract/run-filter';
import type { RunStatus, RunSummary } from '@wfg/shared/contract/run';
import { getRuns, type RunsAsked } from '../api/runs.ts';
import { useListed } from '../live/use-listed.ts';
import { type Filter, filtered } from '../parts/filters.tsx';
import { faceOfRun } from '../parts/face.ts';
import { ListPage } from '../parts/list-page.tsx';
import { RunTable } from '../parts/run-table.tsx';
import { query } from '../router.ts';

/** Only where the next page begins is asked for so seldom. */
const EVERY_MS = 30_000;
/** As many as a page has. */
const MOST = 50;

const STATUSES = [
  'pending',
  'running',
  'cancelling',
  'completed',
  'failed',
  'cancelled',
] satisfies RunStatus[];
const KINDS = ['event', 'task'] satisfies RunKind[];
const FILTERS: readonly Filter[] = [
  {
    name: 'kind',
    label: 'Of',
    any: 'Workflows',
    options: [
      ['event', 'Events'],
      ['task', 'Tasks'],
      ['all', 'All'],
    ],
  },
  { name: 'status', label: 'Status', options: STATUSES.map((one) => [one, faceOfRun(one).word]) },
  { name: 'workflow', label: 'Workflow' },
  { name: 'type', label: 'Type' },
  { name: 'label', label: 'Label' },
  { name: 'since', label: 'Since', type: 'datetime-local' },
  { name: 'until', label: 'Until', type: 'datetime-local' },
];

export function RunsPage() {
  const asked = filtered(FILTERS);
  const isFirst = query.value.get('cursor') === null;
  const live = useListed<RunSummary>(isFirst ? JSON.stringify(asked) : null, {
    topic: () => ({ topic: 'runs', ...narrowedBy(filtered(FILTERS)) }),
    all: (frame) => (frame.op === 'snapshot' && 'runs' in frame ? frame.runs : null),
    one: (frame) => (frame.op === 'run' ? frame.run : null),
    gone: (frame) => (frame.op === 'gone' && 'run_id' in frame ? frame.run_id : null),
    idOf: (run) => run.run_id,
    most: MOST,
  });
  return (
    <ListPage
      title="Runs"
      page="runs"
      things="runs"
      filters={FILTERS}
      load={(given, cursor, signal) => getRuns(narrowedBy(given), cursor, signal)}
      everyMs={EVERY_MS}
      live={live.value}
      empty={
        <p>
          No workflow has run yet. Start a <a href="/definitions">workflow</a>, or a file with{' '}
          <code>wfg run FILE</code>; <a href="/events">events</a> have a page of their own.
        </p>
      }
    >
      {(runs) => <RunTable runs={runs} />}
    </ListPage>
  );
}

/** The filters in the server's words. */
function narrowedBy({
  kind,
  status,
  workflow,
  type,
  label,
  since,
  until,
}: Record<string, string>): RunsAsked {
  return {
    kind: kind === 'all' ? undefined : (KINDS.find((one) => one === kind) ?? 'workflow'),
    status: STATUSES.find((one) => one === status),
    workflow_id: workflow,
    workflow_type: type,
    label,
    since: momentOf(since),
    until: momentOf(until),
  };
}

/** A time as the reader's own zone has it. */
function momentOf(local: string | undefined): string | undefined {
  const time = local === undefined ? Number.NaN : Date.parse(local);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
