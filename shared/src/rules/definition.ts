// Turns a workflow as handed in (file map or workflow-graph array) into a checked Definition.
import { DEFAULT_CATCH_UP, DEFAULT_TIMEZONE } from '../contract/cron.ts';
import { type DefinedSchedule, Definition } from '../contract/definition.ts';
import { type Issue, WfgError } from '../contract/problem.ts';
import { type Env, ID_PATTERN, WorkflowInput } from '../contract/workflow.ts';
import { rhythmIssue } from './cron.ts';
import { fromFileJob, fromGraphJob } from './define-job.ts';
import { hasExpression } from './expression/template.ts';
import { graphIssues } from './graph.ts';
import { check } from './issues.ts';
import { sizeIssue } from './workflow-size.ts';

/**
 * Checks a workflow and fills in every default.
 *
 * @throws {WfgError} invalid_workflow, with every fault found and its path.
 */
export function defineWorkflow(input: unknown): Definition {
  const tooMuch = sizeIssue(input);
  if (tooMuch) throw invalid([tooMuch]);
  const { data, issues: faults } = check(WorkflowInput, input);
  if (faults) throw invalid(faults);
  const { name, on, trigger, env, timeout, jobs } = data;
  const issues = envIssues(env ?? {});
  const schedules = definedSchedules(on);
  issues.push(...scheduleIssues(schedules));
  const { defined, path } = definedJobs(jobs, issues);
  issues.push(...graphIssues(defined, path));
  if (issues.length > 0) throw invalid(issues);
  return {
    name,
    trigger: trigger ?? displayTrigger(on),
    schedules,
    env: env ?? {},
    timeout: timeout ?? null,
    jobs: defined,
  };
}

/**
 * A workflow as it was stored: it was checked before, but tables can be written by anyone.
 *
 * @throws {WfgError} invalid_workflow.
 */
export function readDefinition(stored: unknown): Definition {
  const { data, issues } = check(Definition, stored);
  if (issues) throw invalid(issues);
  return data;
}

/** The jobs in either form, their faults added to `issues`; `path` is where a job's dependencies stand. */
function definedJobs(jobs: WorkflowInput['jobs'], issues: Issue[]) {
  const reportOf = (key: string | number) => (path: string, message: string) => {
    issues.push({ path: `jobs.${key}.${path}`, message });
  };
  const defined = Array.isArray(jobs)
    ? jobs.map((job, index) => fromGraphJob(job, reportOf(index)))
    : Object.entries(jobs).map(([id, job]) => fromFileJob(id, job, reportOf(id)));
  const at = (id: string, index: number, key: string) => `jobs.${Array.isArray(jobs) ? index : id}.${key}`;
  for (const [index, { id }] of defined.entries()) {
    if (ID_PATTERN.test(id)) continue;
    issues.push({ path: at(id, index, 'id'), message: `Job id '${id}' must match [A-Za-z0-9_.-]{1,255}` });
  }
  const needsKey = Array.isArray(jobs) ? 'depends_on' : 'needs';
  return { defined, path: (id: string, index: number) => at(id, index, needsKey) };
}

/** It is what `env` says in expressions, so there is nothing yet that its own could speak of. */
function envIssues(env: Env): Issue[] {
  const names = Object.keys(env).filter((name) => hasExpression(env[name] ?? ''));
  return names.map((name) => ({
    path: `env.${name}`,
    message: "the workflow's env takes no ${{ }}: put the variable into the env of the jobs that need it",
  }));
}

function definedSchedules(on: WorkflowInput['on']): DefinedSchedule[] {
  if (typeof on !== 'object' || on === null || Array.isArray(on)) return [];
  return (on.schedule ?? []).map(
    ({ cron, timezone = DEFAULT_TIMEZONE, catch_up = DEFAULT_CATCH_UP }): DefinedSchedule => {
      return { cron, timezone, catch_up };
    },
  );
}

function scheduleIssues(schedules: readonly DefinedSchedule[]): Issue[] {
  return schedules.flatMap((schedule, index) => {
    const issue = rhythmIssue(schedule);
    return issue ? [{ ...issue, path: `on.schedule.${index}.${issue.path}` }] : [];
  });
}

function invalid(issues: Issue[]): WfgError {
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  const where = first?.path ? `${first.path}: ` : '';
  return new WfgError('invalid_workflow', `${where}${first?.message}${more}`, issues.slice(0, MAX_ISSUES));
}

/** More than anyone reads. */
const MAX_ISSUES = 100;

/** `on: push` for one event, `on: [a, b]` for several or for a map's keys. */
function displayTrigger(on: WorkflowInput['on']): string {
  if (on === undefined || on === null) return '';
  if (typeof on === 'string') return `on: ${on}`;
  return `on: [${(Array.isArray(on) ? on : Object.keys(on)).join(', ')}]`;
}
