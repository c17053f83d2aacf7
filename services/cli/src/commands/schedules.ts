// wfg schedules: what starts by itself, and when.
import { CatchUp } from '@wfg/shared/contract/cron';
import { WorkflowType } from '@wfg/shared/contract/event';
import * as routes from '@wfg/shared/contract/routes/schedules';
import type { Schedule } from '@wfg/shared/contract/schedule';
import { type Command, textOf, type Values } from '../command.ts';
import { EXIT, usage } from '../exit-error.ts';
import { createHttpClient, type HttpClient } from '../http-client.ts';
import { idOf, scheduleId } from '../id.ts';
import { jsonOf } from '../json-of.ts';
import { limitOf } from '../limit.ts';
import { optionOf } from '../option.ts';
import { endWithReader, paper, print, say } from '../output.ts';
import { SERVER_OPTIONS, serverOf } from '../server.ts';
import { scheduleListText, scheduleText } from '../show/schedule-text.ts';
import { jsonLine } from '../terminal-safe.ts';
import { envOf } from '../workflow-body.ts';

const DEFAULT_LIMIT = 20;
/** More are not in one answer. */
const PAGE = 500;

export const schedules: Command = {
  usage: '[ACTION [ID]] [--limit N] [OPTIONS of add] [--url URL] [--token TOKEN] [--json]',
  summary: 'list, show, add, pause, resume, run and remove what starts by itself',
  details: [
    'ACTION is one of',
    '  list          all of them, the newest first; this is what is done without an ACTION',
    '  show ID       one, with its next ticks and what came of the latest',
    '  next ID       when it ticks next, also while it is paused',
    '  add [ID]      --cron CRON (--workflow ID [--env K=V]... | --event TYPE [--payload JSON])',
    '                [--timezone ZONE] [--catch-up skip|last|all]',
    '  pause ID      no ticks until "resume ID", and none of them is missed',
    '  run ID        start now what it starts, besides its ticks; prints the id of the run',
    '  remove ID     with its ticks; what it has started stays',
    `CRON is like "30 2 * * *" or @daily, ZONE like Europe/Berlin. N is ${DEFAULT_LIMIT} if not given.`,
    "Schedules that a workflow's on.schedule asks for, like ci:1, are paused here, and changed and removed there.",
  ].join('\n'),
  options: {
    limit: { type: 'string' },
    cron: { type: 'string' },
    timezone: { type: 'string' },
    'catch-up': { type: 'string' },
    workflow: { type: 'string' },
    env: { type: 'string', multiple: true },
    event: { type: 'string' },
    payload: { type: 'string' },
    ...SERVER_OPTIONS,
    json: { type: 'boolean' },
  },
  arity: [0, 2],
  async run([name = 'list', id], values) {
    endWithReader();
    const action = ACTIONS.get(name);
    if (action === undefined) throw usage(`there is no "wfg schedules ${name}": see wfg help schedules`);
    const foreign = Object.keys(values).find((option) => ADDING.has(option));
    if (foreign !== undefined && action !== add) throw usage(`--${foreign} is for wfg schedules add`);
    await action({ id, values, http: createHttpClient(serverOf(values, process.env)) });
    return EXIT.ok;
  },
};

interface Asked {
  id: string | undefined;
  values: Values;
  http: HttpClient;
}

const ADDING: ReadonlySet<string> = new Set([
  'cron',
  'timezone',
  'catch-up',
  'workflow',
  'env',
  'event',
  'payload',
]);

const ACTIONS = new Map<string, (asked: Asked) => Promise<void>>(
  Object.entries({ list, show, next, add, pause, resume, run, remove }),
);

async function list({ id, values, http }: Asked): Promise<void> {
  if (id !== undefined) throw usage('usage: wfg schedules list: see wfg schedules show ID for one');
  const limit = limitOf(values) ?? DEFAULT_LIMIT;
  const items: Schedule[] = [];
  let cursor: string | undefined;
  do {
    const page = await http(routes.listSchedules, {
      query: { cursor, limit: Math.min(PAGE, limit - items.length) },
    });
    items.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined && items.length < limit);
  if (values.json) print(items.map(jsonLine).join(''));
  else if (items.length === 0) say('there are no schedules');
  else print(scheduleListText(items, paper(), Date.now()));
  if (cursor !== undefined && process.stdout.isTTY) say('there are more: see --limit');
}

async function show({ id, values, http }: Asked): Promise<void> {
  const params = paramsOf(id);
  const limit = Math.min(PAGE, limitOf(values) ?? DEFAULT_LIMIT);
  const schedule = await http(routes.getSchedule, { params });
  const times = await http(routes.listNextTicks, { params });
  const { items: ticks } = await http(routes.listTicks, { params, query: { limit } });
  if (values.json) print(jsonLine({ ...schedule, next: times, ticks }));
  else print(scheduleText(schedule, { next: times, ticks }, paper(), Date.now()));
}

async function next({ id, values, http }: Asked): Promise<void> {
  const times = await http(routes.listNextTicks, { params: paramsOf(id), query: { count: limitOf(values) } });
  print(values.json ? jsonLine(times) : times.map((time) => `${time}\n`).join(''));
}

async function add({ id, values, http }: Asked): Promise<void> {
  const cron = textOf(values, 'cron');
  const workflow = textOf(values, 'workflow');
  const event = optionOf(values, 'event', WorkflowType);
  const payload = textOf(values, 'payload');
  if (cron === undefined || (workflow === undefined) === (event === undefined)) {
    throw usage('wfg schedules add takes --cron, and --workflow or --event');
  }
  const body = {
    id: id === undefined ? undefined : idOf('ID', id),
    cron,
    timezone: textOf(values, 'timezone'),
    catch_up: catchUpOf(textOf(values, 'catch-up')),
    workflow_id: workflow === undefined ? undefined : idOf('--workflow', workflow),
    env: Array.isArray(values.env) ? envOf(values.env.map(String)) : undefined,
    workflow_type: event,
    payload: payload === undefined ? undefined : jsonOf('--payload', payload),
  };
  const made = await http(routes.createSchedule, { body });
  print(values.json ? jsonLine(made) : `added ${made.id}: its first tick is at ${made.next_at}\n`);
}

async function pause({ id, values, http }: Asked): Promise<void> {
  const paused = await http(routes.pauseSchedule, { params: paramsOf(id) });
  print(values.json ? jsonLine(paused) : `paused ${paused.id}\n`);
}

async function resume({ id, values, http }: Asked): Promise<void> {
  const resumed = await http(routes.resumeSchedule, { params: paramsOf(id) });
  print(values.json ? jsonLine(resumed) : `resumed ${resumed.id}: its next tick is at ${resumed.next_at}\n`);
}

async function run({ id, values, http }: Asked): Promise<void> {
  const started = await http(routes.runSchedule, { params: paramsOf(id) });
  print(values.json ? jsonLine(started) : `${started.run_id}\n`);
}

async function remove({ id, values, http }: Asked): Promise<void> {
  const params = paramsOf(id);
  await http(routes.deleteSchedule, { params });
  print(values.json ? jsonLine({ type: 'removed', id: params.id }) : `removed ${params.id}\n`);
}

function paramsOf(id: string | undefined): { id: string } {
  if (id === undefined) throw usage('the ID of a schedule is missing: see wfg schedules');
  return { id: scheduleId(id) };
}

function catchUpOf(text: string | undefined): CatchUp | undefined {
  if (text === undefined) return undefined;
  const parsed = CatchUp.safeParse(text);
  if (parsed.success) return parsed.data;
  throw usage(`--catch-up must be one of ${CatchUp.options.join(', ')}, and is "${text}"`);
}
