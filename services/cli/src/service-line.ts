// A line that a service logged, a JSON object or not, as a person wants to read it.
import { jsonOrUndefined } from '@wfg/shared/contract/json';
import { z } from 'zod';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
const LONGEST_VALUE = 300;

const Line = z.looseObject({ level: z.string(), msg: z.string().default(''), time: z.string().optional() });

export interface ServiceLine {
  level: string;
  /** HH:MM:SS by the clock here; empty when the line has no time. */
  time: string;
  msg: string;
  /** Message and fields; what follows the first line belongs to it. */
  text: string;
  fields: Record<string, unknown>;
}

/** Whether a line of this level is shown when `threshold` is the least one wanted. */
export function isShown(level: string, threshold: string): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(threshold);
}

/** What is no JSON line is taken as it is, as `info`. */
export function readServiceLine(line: string): ServiceLine {
  const parsed = Line.safeParse(jsonOrUndefined(line));
  if (!parsed.success) return { level: 'info', time: '', msg: line, text: line, fields: {} };
  const { level, msg, time, service: _service, pid: _pid, err, ...fields } = parsed.data;
  const shown = Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => ` ${name}=${brief(value)}`);
  return {
    level,
    msg,
    time: time === undefined ? '' : new Date(time).toLocaleTimeString('en-GB'),
    text: `${msg}${reason(err, msg, level)}${shown.join('')}`,
    fields,
  };
}

const Err = z.object({ message: z.string().default(''), stack: z.string().optional() });

/** The error's message, if the line does not say it already; where it was thrown only if it ended the service. */
function reason(err: unknown, msg: string, level: string): string {
  if (err === undefined) return '';
  const parsed = Err.safeParse(err);
  if (!parsed.success) return `: ${brief(err)}`;
  const { message, stack = '' } = parsed.data;
  const said = message === '' || msg.includes(message) ? '' : `: ${message}`;
  const frames = stack.split('\n').filter((frame) => frame.startsWith('    at '));
  return said + (level === 'fatal' ? frames.map((frame) => `\n${frame}`).join('') : '');
}

function brief(value: unknown): string {
  const text = typeof value === 'string' && !/[\s"=]/.test(value) ? value : JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}
