// What is shown for each page, and which of them are in the navigation. Only the first pages are in the first load.
import type { ComponentType } from 'preact';
import { lazy } from '../parts/lazy.tsx';
import type { PageName } from '../router.ts';
import { RunPage } from './run.tsx';
import { RunsPage } from './runs.tsx';

/** What stands in the path for its parameters. */
export type Params = Record<string, string>;

export const PAGES: Partial<Record<PageName, ComponentType<{ params: Params }>>> = {
  runs: RunsPage,
  run: RunPage,
  job: RunPage,
  workflows: lazy(async () => (await import('./workflows.tsx')).WorkflowsPage),
  workflow: lazy(async () => (await import('./workflow.tsx')).WorkflowPage),
  events: lazy(async () => (await import('./events.tsx')).EventsPage),
  dead: lazy(async () => (await import('./dead.tsx')).DeadPage),
  schedules: lazy(async () => (await import('./schedules.tsx')).SchedulesPage),
  workers: lazy(async () => (await import('./workers.tsx')).WorkersPage),
};

export const NAVIGATION: readonly { label: string; page: PageName; about: readonly PageName[] }[] = [
  { label: 'Runs', page: 'runs', about: ['runs', 'run', 'job'] },
  { label: 'Workflows', page: 'workflows', about: ['workflows', 'workflow'] },
  { label: 'Events', page: 'events', about: ['events'] },
  { label: 'Dead letters', page: 'dead', about: ['dead'] },
  { label: 'Schedules', page: 'schedules', about: ['schedules'] },
  { label: 'Workers', page: 'workers', about: ['workers'] },
];
