// wfg runs: the latest runs, a line each.
import { listRuns } from '@wfg/shared/contract/routes/runs';
import { listWorkflowRuns } from '@wfg/shared/contract/routes/workflow-runs';
import { RunStatus, type RunSummary } from '@wfg/shared/contract/run';
import { type Command, textOf, type Values } from '../command.ts';
import { EXIT, usage } from '../exit-error.ts';
import { createHttpClient, type HttpClient } from '../http-client.ts';
import { idOf } from '../id.ts';
import { limitOf } from '../limit.ts';
import { endWithReader, paper, print, say } from '../output.ts';
import { SERVER_OPTIONS, serverOf } from '../server.ts';
import { runName } from '../show/run-text.ts';
import { type Column, tableText } from '../table.ts';
import { jsonLine } from '../terminal-safe.ts';
import { ageText, spanText } from '../time-text.ts';
import { TINTS } from '../tint.ts';

const DEFAULT_LIMIT = 20;
/** More are not in one answer. */
const PAGE = 500;

export const runs: Command = {
  usage: '[--status STATUS] [--workflow ID] [--limit N] [--url URL] [--token TOKEN] [--json]',
  summary: 'list runs, the newest first',
  details: [
    `STATUS is one of ${RunStatus.options.join(', ')}.`,
    `N is ${DEFAULT_LIMIT} if not given. --json: a run a line, without its jobs.`,
  ].join('\n'),
  options: {
    status: { type: 'string' },
    workflow: { type: 'string' },
    limit: { type: 'string' },
    ...SERVER_OPTIONS,
    json: { type: 'boolean' },
  },
  arity: [0, 0],
  async run(_args, values) {
    endWithReader();
    const workflow = textOf(values, 'workflow');
    const id = workflow === undefined ? undefined : idOf('--workflow', workflow);
    const status = statusOf(values);
    const limit = limitOf(values) ?? DEFAULT_LIMIT;
    const http = createHttpClient(serverOf(values, process.env));
    const { items, more } = await readRuns(http, id, status, limit);
    if (values.json) {
      print(items.map(jsonLine).join(''));
      return EXIT.ok;
    }
    if (items.length === 0) say(status === undefined ? 'there are no runs' : `there are no runs ${status}`);
    else print(tableText(columns(Date.now()), items, paper()));
    if (more && process.stdout.isTTY) say('there are more: see --limit');
    return EXIT.ok;
  },
};

function statusOf(values: Values): RunStatus | undefined {
  const text = textOf(values, 'status');
  if (text === undefined) return undefined;
  const parsed = RunStatus.safeParse(text);
  if (parsed.success) return parsed.data;
  throw usage(`--status must be one of ${RunStatus.options.join(', ')}, and is "${text}"`);
}

async function readRuns(
  http: HttpClient,
  id: string | undefined,
  status: RunStatus | undefined,
  limit: number,
) {
  const items: RunSummary[] = [];
  let cursor: string | undefined;
  for (;;) {
    const query = { status, cursor, limit: Math.min(PAGE, limit - items.length) };
    // Unlike the filter of all runs, the list of a workflow's knows one that does not exist.
    const page =
      id === undefined
        ? await http(listRuns, { query })
        : await http(listWorkflowRuns, { params: { id }, query });
    items.push(...page.items);
    if (page.next === null || items.length >= limit) return { items, more: page.next !== null };
    cursor = page.next;
  }
}

function columns(now: number): Column<RunSummary>[] {
  return [
    { title: 'STATUS', text: (run) => run.status, tint: (run) => TINTS[run.status] },
    { title: 'RUN', text: runName, shrinks: true },
    { title: 'ID', text: (run) => run.run_id },
    { title: 'AGE', text: (run) => ageText(now - Date.parse(run.created_at)) },
    { title: 'DURATION', text: (run) => spanText(run.started_at, run.finished_at, now) },
  ];
}
