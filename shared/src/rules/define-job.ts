// A job as handed in, in either form, with every default filled in; what is wrong with it is reported.
import type { DefinedJob, DefinedStep } from '../contract/definition.ts';
import { type FileJob, type GraphJob, MAX_COMMAND_BYTES, MAX_PAYLOAD_BYTES } from '../contract/workflow.ts';
import { conditionsOf, type Report } from './expression/conditions.ts';

export function fromFileJob(id: string, job: FileJob, report: Report): DefinedJob {
  const needs = [...new Set(typeof job.needs === 'string' ? [job.needs] : job.needs)];
  const { condition, tolerates, steps: conditions } = conditionsOf(job, needs, report);
  const steps = (job.steps ?? []).flatMap((step, index): DefinedStep[] => {
    const run = step.run?.trim();
    if (!run) return [];
    const label = step.name ?? step.id ?? `step ${index + 1}`;
    return [
      { label, run, env: step.env ?? {}, timeout: step.timeout ?? null, if: conditions[index] ?? null },
    ];
  });
  checkFields(job, report);
  const defined: DefinedJob = {
    id,
    name: job.name ?? id,
    needs,
    run: steps.length > 0 ? null : (job.run ?? null),
    steps: steps.length > 0 ? steps : null,
    uses: job.uses ?? null,
    with: payloadOf(job),
    condition,
    tolerates,
    env: job.env ?? {},
    mask: [...new Set(job.mask)],
    timeout: job.timeout ?? null,
    expires_in: job.expires_in ?? null,
    labels: normalLabels(job.labels),
    max_retries: job.retry?.max_retries ?? job.retries ?? 0,
    backoff: job.retry?.backoff ?? null,
    not_on: [...new Set(job.retry?.not_on)],
    priority: job.priority ?? 0,
    metadata: {},
    ports: [],
    children: null,
    collapsed: false,
  };
  if (job.uses === undefined) checkCommand(defined, defined.steps ? 'steps' : 'run', report);
  return defined;
}

export function fromGraphJob(job: GraphJob, report: Report): DefinedJob {
  const defined: DefinedJob = {
    id: job.id,
    name: job.name,
    needs: [...new Set(job.depends_on)],
    run: job.command,
    steps: null,
    uses: null,
    with: null,
    condition: null,
    tolerates: 'nothing',
    env: {},
    mask: [],
    timeout: null,
    expires_in: null,
    labels: normalLabels(job.required_labels),
    max_retries: job.max_retries ?? 0,
    backoff: null,
    not_on: [],
    priority: 0,
    metadata: job.metadata ?? {},
    ports: job.ports ?? [],
    children: job.children ?? null,
    collapsed: job.collapsed ?? false,
  };
  checkCommand(defined, 'command', report);
  return defined;
}

/** Fields that contradict each other. */
function checkFields(job: FileJob, report: Report): void {
  if (job.retries !== undefined && job.retry !== undefined) {
    report('retries', "is there beside 'retry': write retry: { max_retries: … } alone");
  }
  if (job.uses === undefined) {
    if (job.with !== undefined) report('with', "goes to the handler of 'uses', which the job does not have");
    return;
  }
  for (const key of ['run', 'steps', 'env', 'mask'] as const) {
    if (job[key] !== undefined)
      report(key, `is for a command: a job with 'uses' hands its values over in 'with'`);
  }
  if (job.retry?.not_on) report('retry.not_on', "is for a command's exit codes: a job with 'uses' has none");
  checkPayload(job.with, report);
}

/** An event without a payload has `{}` as well. */
function payloadOf(job: FileJob): unknown {
  if (job.uses === undefined) return null;
  return job.with === undefined ? {} : job.with;
}

function checkPayload(payload: unknown, report: Report): void {
  const text = JSON.stringify(payload, (_, value: unknown) => {
    if (typeof value === 'number' && !Number.isFinite(value))
      report('with', `holds ${value}, which JSON does not have`);
    return value;
  });
  if (text && Buffer.byteLength(text) > MAX_PAYLOAD_BYTES) report('with', 'is larger than 1 MiB');
}

function checkCommand(job: DefinedJob, path: string, report: Report): void {
  const command = job.run ?? job.steps?.map((step) => step.run).join('\n') ?? '';
  const told = (what: string) => report(path, `Job '${job.id}': ${what}`);
  if (command.trim() === '') told("Job must have either 'run' or 'steps', or 'uses'");
  else if (Buffer.byteLength(command) > MAX_COMMAND_BYTES) told('the command is longer than 1 MiB');
  else if (command.includes('\0')) told('the command holds a NUL character');
}

/** Sorted and distinct, so that equal sets of labels are one lane. */
function normalLabels(labels: readonly string[] = []): string[] {
  return [...new Set(labels)].sort();
}
