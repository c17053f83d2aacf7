// The whole system in the words of Prometheus: what there is and what waits, counted when it is asked.
import { Counter, Gauge, Registry, type RegistryContentType } from 'prom-client';
import type { Queryable } from '../db/pool.ts';
import { countEvents, countJobs } from '../queries/counts.ts';
import { GAUGE_LIMITS, readGauges } from '../queries/gauges.ts';
import { VERSION } from './version.ts';

/** Types that are told apart: every one is a time series. */
const MOST_TYPES = 50;

const CONTENT_TYPES = {
  'text/plain': Registry.PROMETHEUS_CONTENT_TYPE,
  'application/openmetrics-text': Registry.OPENMETRICS_CONTENT_TYPE,
} as const;
export type MetricsFormat = keyof typeof CONTENT_TYPES;

/** A scrape of it, with its content type. */
export async function systemMetrics(
  db: Queryable,
  format: MetricsFormat,
): Promise<{ text: string; contentType: string }> {
  const [events, jobs, gauges] = await Promise.all([countEvents(db), countJobs(db), readGauges(db)]);
  const contentType = CONTENT_TYPES[format];
  const registry = new Registry<RegistryContentType>();
  registry.setContentType(contentType);
  const registers = [registry];

  function show(
    name: string,
    help: string,
    label: string,
    values: readonly (readonly [string, number])[],
  ): void {
    const gauge = new Gauge({ name: `wfg_${name}`, help, labelNames: [label], registers });
    for (const [labelled, value] of values) gauge.set({ [label]: labelled }, value);
  }

  show('build_info', 'The version of the api that answers.', 'version', [[VERSION, 1]]);
  const live = new Gauge({
    name: 'wfg_jobs',
    help: 'Jobs of open runs, and standalone ones until they complete or are cancelled, by kind and state.',
    labelNames: ['kind', 'state'],
    registers,
  });
  for (const { kind, state, count } of jobs) live.set({ kind, state }, count);
  const due = gauges.due.slice(0, MOST_TYPES).map(({ label, ...lane }) => ({ type: typeOf(label), ...lane }));
  show(
    'jobs_due',
    `Jobs that are due and not claimed, by what executes them: ${MOST_TYPES} types, of each lane at most ${GAUGE_LIMITS.due}.`,
    'type',
    due.map(({ type, jobs }) => [type, jobs]),
  );
  show(
    'jobs_due_oldest_seconds',
    'For how long the oldest of them has been due.',
    'type',
    due.map(({ type, oldest_secs }) => [type, oldest_secs]),
  );
  new Gauge({
    name: 'wfg_runs_open',
    help: `Runs of graphs that go on, at most ${GAUGE_LIMITS.runs}.`,
    registers,
  }).set(gauges.open_runs);
  const workers = ['idle', 'busy', 'draining', 'offline'].map(
    (status) => [status, gauges.workers[status] ?? 0] as const,
  );
  show('workers', 'Workers that are known, by status.', 'status', workers);
  const { statuses, busy_ms, as_of } = events;
  show('events', 'Standalone events by status.', 'status', Object.entries(statuses));
  new Counter({
    name: 'wfg_event_processing_seconds_total',
    help: 'What the last tries of completed events took together.',
    registers,
  }).inc(busy_ms / 1_000);
  new Gauge({
    name: 'wfg_counted_timestamp_seconds',
    help: 'When events were counted: now, or up to ten seconds ago while there are very many.',
    registers,
  }).set(as_of.getTime() / 1_000);
  show('table_bytes', 'Size of tables on disk, with indexes.', 'table', Object.entries(gauges.table_bytes));
  return { text: await registry.metrics(), contentType };
}

/** `command`, or the type of event or task. */
function typeOf(label: string): string {
  return /^:(?:event |task )?(.*)$/s.exec(label)?.[1] ?? label;
}
