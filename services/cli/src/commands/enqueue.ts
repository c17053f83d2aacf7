// wfg enqueue: stores an event for its handler, or starts a task.
import { DueTime, EventInput, WorkflowType } from '@wfg/shared/contract/event';
import { KeyRule } from '@wfg/shared/contract/key';
import { createEvent } from '@wfg/shared/contract/routes/events';
import { createTask } from '@wfg/shared/contract/routes/tasks';
import { TaskInput } from '@wfg/shared/contract/task';
import type { z } from 'zod';
import { type Command, textOf, type Values } from '../command.ts';
import { EXIT, usage } from '../exit-error.ts';
import { createHttpClient } from '../http-client.ts';
import { jsonOf } from '../json-of.ts';
import { mustFit, optionOf } from '../option.ts';
import { print } from '../output.ts';
import { SERVER_OPTIONS, serverOf } from '../server.ts';
import { jsonLine } from '../terminal-safe.ts';

export const enqueue: Command = {
  usage:
    'TYPE [PAYLOAD] [--task] [--at TIME] [--max-attempts N] [--priority N] [--key KEY] [--url URL] [--token TOKEN] [--json]',
  summary: 'store an event for the handler of its type, or start a task, and print its id',
  details: [
    'PAYLOAD is JSON; {} if not given. TIME is like 2026-07-01T12:00:00Z: not before it.',
    'N: tries in all, 3 if not given; the priority, from -100 to 100, larger first.',
    'With the same KEY and the same rest it is stored once, however often the command is repeated within 7 days.',
    '--task: TYPE is the task, PAYLOAD the step where it begins: wfg enqueue --task Greeter \'{"ReadName":{"filename":"a"}}\'',
  ].join('\n'),
  options: {
    task: { type: 'boolean' },
    at: { type: 'string' },
    'max-attempts': { type: 'string' },
    priority: { type: 'string' },
    key: { type: 'string' },
    ...SERVER_OPTIONS,
    json: { type: 'boolean' },
  },
  arity: [1, 2],
  async run([type = '', text], values) {
    const payload = text === undefined ? undefined : jsonOf('PAYLOAD', text);
    const headers = { 'idempotency-key': optionOf(values, 'key', KeyRule) };
    const at = optionOf(values, 'at', DueTime);
    const http = createHttpClient(serverOf(values, process.env));
    const maxAttempts = numberOf(values, 'max-attempts', EventInput.shape.max_attempts);
    const priority = numberOf(values, 'priority', EventInput.shape.priority);
    if (values.task) {
      if (maxAttempts !== undefined || priority !== undefined)
        throw usage('--max-attempts and --priority are for events: the steps of a task have their own tries');
      const step = TaskInput.shape.step.safeParse({ [type]: payload });
      if (!step.success) throw usage('PAYLOAD of a task must be {"<Step>": <state>}: where it begins');
      const { run_id } = await http(createTask, { headers, body: { step: step.data, wakeup_at: at } });
      print(values.json ? jsonLine({ type: 'started', run_id }) : `${run_id}\n`);
      return EXIT.ok;
    }
    mustFit('TYPE', WorkflowType, type);
    const { id } = await http(createEvent, {
      headers,
      body: {
        workflow_type: type,
        payload,
        run_at: at,
        max_attempts: maxAttempts,
        priority,
      },
    });
    print(values.json ? jsonLine({ type: 'enqueued', run_id: id }) : `${id}\n`);
    return EXIT.ok;
  },
};

function numberOf(values: Values, name: string, rule: z.ZodType): number | undefined {
  const text = textOf(values, name);
  if (text === undefined) return undefined;
  // What is no number is refused as it was written.
  const number = /^-?\d{1,9}$/.test(text) ? Number(text) : text;
  mustFit(`--${name}`, rule, number);
  return Number(number);
}
