// A schedule with its ticks as text, and many as a table.
import type { Schedule, Tick } from '@wfg/shared/contract/schedule';
import { type Column, type Paper, tableText } from '../table.ts';
import { ageText } from '../time-text.ts';
import { TINTS } from '../tint.ts';
import { type Fact, factsText } from './facts-text.ts';

/** `now` in epoch milliseconds. */
export function scheduleListText(schedules: readonly Schedule[], paper: Paper, now: number): string {
  const columns: Column<Schedule>[] = [
    { title: 'SCHEDULE', text: ({ id }) => id, shrinks: true },
    { title: 'CRON', text: ({ cron }) => cron },
    { title: 'ZONE', text: ({ timezone }) => timezone },
    { title: 'STARTS', text: startsText, shrinks: true },
    { title: 'NEXT', text: (schedule) => nextText(schedule, now), tint: nextTint },
    { title: 'LAST', text: ({ last_tick_at }) => lastText(last_tick_at, now) },
    { title: 'ERROR', text: ({ error }) => error ?? '', tint: () => 'red', shrinks: true },
  ];
  return tableText(columns, schedules, paper);
}

/** `next` are its next ticks, `ticks` its latest. */
export function scheduleText(
  schedule: Schedule,
  { next, ticks }: { next: readonly string[]; ticks: readonly Tick[] },
  paper: Paper,
  now: number,
): string {
  const { env, payload, workflow_id } = schedule;
  const facts: Fact[] = [
    { name: 'schedule', text: schedule.id, tint: 'bold' },
    { name: 'cron', text: `${schedule.cron} (${schedule.timezone})` },
    { name: 'starts', text: startsText(schedule) },
    {
      name: 'env',
      text: Object.entries(env ?? {})
        .map((entry) => entry.join('='))
        .join('\n'),
    },
    { name: 'payload', text: workflow_id === null ? JSON.stringify(payload) : '' },
    { name: 'catch up', text: schedule.catch_up },
    { name: 'made by', text: schedule.source === 'workflow' ? `on.schedule of ${workflow_id}` : 'hand' },
    { name: 'next', text: schedule.paused ? 'paused' : next.join('\n'), tint: nextTint(schedule) },
    { name: 'error', text: schedule.error ?? '', tint: 'red' },
  ];
  const columns: Column<Tick>[] = [
    { title: 'TICK', text: ({ tick_at }) => tick_at },
    { title: 'OUTCOME', text: ({ outcome }) => outcome, tint: ({ outcome }) => TINTS[outcome] },
    { title: 'RUN', text: ({ run_id }) => run_id ?? '' },
    { title: 'AGE', text: ({ tick_at }) => ageText(now - Date.parse(tick_at)) },
    { title: 'ERROR', text: ({ error }) => error ?? '', shrinks: true },
  ];
  return `${factsText(facts, paper)}${ticks.length === 0 ? '' : `\n${tableText(columns, ticks, paper)}`}`;
}

function startsText({ workflow_id, workflow_type }: Schedule): string {
  return workflow_id === null ? `event ${workflow_type}` : `workflow ${workflow_id}`;
}

function nextText({ paused, next_at }: Schedule, now: number): string {
  if (paused) return 'paused';
  return next_at === null ? 'never' : `in ${ageText(Date.parse(next_at) - now)}`;
}

function nextTint({ paused, next_at }: Schedule) {
  return paused || next_at === null ? 'yellow' : undefined;
}

function lastText(last: string | null, now: number): string {
  return last === null ? '' : `${ageText(now - Date.parse(last))} ago`;
}
