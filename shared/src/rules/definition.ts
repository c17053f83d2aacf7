// Turns a workflow as handed in (file map or workflow-graph array) into a checked Definition.
import type { z } from 'zod';
import type { DefinedJob, DefinedStep, Definition } from '../contract/definition.ts';
import { type Issue, WfgError } from '../contract/problem.ts';
import {
  type FileJob,
  type GraphJob,
  ID_PATTERN,
  MAX_COMMAND_BYTES,
  MAX_ENV_ENTRIES,
  MAX_JOBS,
  MAX_NEEDS,
  WorkflowInput,
} from '../contract/workflow.ts';
import { graphIssues } from './graph.ts';

/** Zod's findings as issues with dotted paths. */
export function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        path: [...issue.path, key].join('.'),
        message: `unknown key "${key}"`,
      }));
    }
    const branches = issue.code === 'invalid_union' ? issue.errors.flat() : [];
    const nested = branches.filter((inner) => inner.path.length > 0);
    if (nested.length > 0) {
      return nested.map((inner) => ({
        path: [...issue.path, ...inner.path].join('.'),
        message: inner.message,
      }));
    }
    return [{ path: issue.path.join('.'), message: issue.message }];
  });
}

/**
 * Checks a workflow and fills in every default.
 *
 * @throws {WfgError} invalid_workflow, with every fault found and its path.
 */
export function defineWorkflow(input: unknown): Definition {
  const tooMuch = sizeIssue(input);
  if (tooMuch) throw invalid([tooMuch]);
  const parsed = WorkflowInput.safeParse(input);
  if (!parsed.success) throw invalid(issuesOf(parsed.error));
  const { name, on, trigger, env, jobs } = parsed.data;
  const isArray = Array.isArray(jobs);
  const defined = isArray
    ? jobs.map(fromGraphJob)
    : Object.entries(jobs).map(([id, job]) => fromFileJob(id, job));
  const issues = jobIssues(defined, isArray);
  if (issues.length > 0) throw invalid(issues);
  return { name, trigger: trigger ?? displayTrigger(on), env: env ?? {}, timeout: null, jobs: defined };
}

/**
 * What is too much of in an unchecked workflow, judged first and without copying: an alias in YAML makes millions of
 * dependencies cheaply, and each of them, or of a million bad names, would be an issue of its own.
 */
function sizeIssue(input: unknown): Issue | null {
  const jobs = fieldOf(input, 'jobs');
  if (typeof jobs !== 'object' || jobs === null) return null;
  const entries: unknown[] = Object.values(jobs);
  const sum = (of: (job: unknown) => number) => entries.reduce((total: number, job) => total + of(job), 0);
  const needs = sum((job) => lengthOf(fieldOf(job, 'needs') ?? fieldOf(job, 'depends_on')));
  const env = lengthOf(fieldOf(input, 'env')) + sum((job) => lengthOf(fieldOf(job, 'env')));
  const reserved = Object.hasOwn(jobs, '__proto__')
    ? { path: 'jobs.__proto__', message: "Job id '__proto__' cannot be used" }
    : null;
  return (
    reserved ??
    over(entries.length, MAX_JOBS, 'jobs') ??
    over(needs, MAX_NEEDS, 'dependencies') ??
    over(env, MAX_ENV_ENTRIES, 'variables')
  );
}

function over(count: number, most: number, what: string): Issue | null {
  if (count <= most) return null;
  return { path: 'jobs', message: `${count} ${what} are more than the ${most} a workflow may have` };
}

/** Entries of an array or a map; 0 for anything else. */
function lengthOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function invalid(issues: Issue[]): WfgError {
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  const where = first?.path ? `${first.path}: ` : '';
  return new WfgError('invalid_workflow', `${where}${first?.message}${more}`, issues.slice(0, MAX_ISSUES));
}

/** `on: push` for one event, `on: [a, b]` for several or for a map's keys. */
function displayTrigger(on: z.infer<typeof WorkflowInput>['on']): string {
  if (on === undefined || on === null) return '';
  if (typeof on === 'string') return `on: ${on}`;
  return `on: [${(Array.isArray(on) ? on : Object.keys(on)).join(', ')}]`;
}

const UNCONDITIONAL_COMMAND = {
  uses: null,
  with: null,
  condition: null,
  tolerates: 'nothing' as const,
  mask: [],
  not_on: [],
  expires_in: null,
};

function fromFileJob(id: string, job: FileJob): DefinedJob {
  const steps = (job.steps ?? []).flatMap((step, index): DefinedStep[] => {
    const run = step.run?.trim();
    if (!run) return [];
    const label = step.name ?? step.id ?? `step ${index + 1}`;
    return [{ label, run, env: step.env ?? {}, timeout: step.timeout ?? null, if: null }];
  });
  const needs = typeof job.needs === 'string' ? [job.needs] : (job.needs ?? []);
  return {
    id,
    name: job.name ?? id,
    needs: [...new Set(needs)],
    run: steps.length > 0 ? null : (job.run ?? null),
    steps: steps.length > 0 ? steps : null,
    env: job.env ?? {},
    timeout: job.timeout ?? null,
    labels: normalLabels(job.labels),
    max_retries: job.retry?.max_retries ?? job.retries ?? 0,
    backoff: job.retry?.backoff ?? null,
    ...UNCONDITIONAL_COMMAND,
    priority: job.priority ?? 0,
    metadata: {},
    ports: [],
    children: null,
    collapsed: false,
  };
}

function fromGraphJob(job: GraphJob): DefinedJob {
  return {
    id: job.id,
    name: job.name,
    needs: [...new Set(job.depends_on)],
    run: job.command,
    steps: null,
    env: {},
    timeout: null,
    labels: normalLabels(job.required_labels),
    max_retries: job.max_retries ?? 0,
    backoff: null,
    ...UNCONDITIONAL_COMMAND,
    priority: 0,
    metadata: job.metadata ?? {},
    ports: job.ports ?? [],
    children: job.children ?? null,
    collapsed: job.collapsed ?? false,
  };
}

/** More than anyone reads. */
const MAX_ISSUES = 100;

/** Sorted and distinct, so that equal sets of labels are one lane. */
function normalLabels(labels: readonly string[] = []): string[] {
  return [...new Set(labels)].sort();
}

function jobIssues(jobs: readonly DefinedJob[], isArray: boolean): Issue[] {
  if (jobs.length > MAX_JOBS) {
    return [
      { path: 'jobs', message: `${jobs.length} jobs are more than the ${MAX_JOBS} a workflow may have` },
    ];
  }
  const at = (id: string, index: number, key: string) => `jobs.${isArray ? index : id}.${key}`;
  const issues: Issue[] = [];
  for (const [index, job] of jobs.entries()) {
    if (!ID_PATTERN.test(job.id)) {
      issues.push({
        path: at(job.id, index, 'id'),
        message: `Job id '${job.id}' must match [A-Za-z0-9_.-]{1,255}`,
      });
    }
    const command = job.run ?? job.steps?.map((step) => step.run).join('\n') ?? '';
    const commandPath = at(job.id, index, isArray ? 'command' : job.steps ? 'steps' : 'run');
    if (command.trim() === '') {
      issues.push({ path: commandPath, message: `Job '${job.id}': Job must have either 'run' or 'steps'` });
    } else if (Buffer.byteLength(command) > MAX_COMMAND_BYTES) {
      issues.push({ path: commandPath, message: `Job '${job.id}': the command is longer than 1 MiB` });
    } else if (command.includes('\0')) {
      issues.push({ path: commandPath, message: `Job '${job.id}': the command holds a NUL character` });
    }
  }
  const needsKey = isArray ? 'depends_on' : 'needs';
  return [...issues, ...graphIssues(jobs, (id, index) => at(id, index, needsKey))];
}
