// What a claimed job calls, a handler of events or a step of a task, and what its return means for the job.
import type { ClaimedEvent, ClaimedTask } from '@wfg/shared/queries/claim';
import type { EventDefinition } from '@wfg/shared/sdk/define-event';
import { PayloadError, decodePayload } from '@wfg/shared/sdk/event-payload';
import { StepError, UnknownStepError, decodeStep } from '@wfg/shared/sdk/step-json';
import { type NextStep, Onward } from '@wfg/shared/sdk/next-step';
import type { StepDefinition, TaskDefinition } from '@wfg/shared/sdk/define-task';
import { type End, failure } from '../attempt.ts';
import { errorText } from './error-text.ts';

/** What the host lends it. */
export interface Tools {
  log: Console;
  signal: AbortSignal;
  setOutput: (name: string, value: string) => void;
}

export interface Call {
  /** Of one try; null: no limit. */
  timeoutSecs: number | null;
  /** What it does; resolves with what it says of how the job goes on. */
  run: (tools: Tools) => Promise<Pick<End, 'next'>>;
  /** How the try ends that threw this. */
  endOf: (thrown: unknown) => End;
}

export type HandledJob = ClaimedEvent | ClaimedTask;
export type Definition = EventDefinition | TaskDefinition;

/** The label by which its jobs are claimed. */
export function labelOf(definition: Definition): string {
  return 'steps' in definition ? `:task ${definition.name}` : `:event ${definition.type}`;
}

/** The call of this job; null when the definition is not of its kind. */
export function callOf(definition: Definition, job: HandledJob): Call | null {
  if (job.kind === 'event') return 'steps' in definition ? null : eventCall(definition, job);
  return 'steps' in definition ? taskCall(definition, job) : null;
}

function eventCall(definition: EventDefinition, job: ClaimedEvent): Call {
  const facts = {
    tryNumber: job.tries,
    maxAttempts: job.max_attempts,
    workflowId: job.workflow_id,
    runId: job.run_id,
    jobId: job.job_id,
    attempt: job.attempt,
  };
  return {
    timeoutSecs: job.timeout_secs ?? definition.timeoutSecs,
    async run(tools) {
      const payload = decodePayload(definition, job.payload);
      await definition.handler({ payload, ...facts, ...tools });
      return {};
    },
    endOf: (thrown) => ({ ...failure(errorText(thrown)), retryable: !(thrown instanceof PayloadError) }),
  };
}

function taskCall(definition: TaskDefinition, job: ClaimedTask): Call {
  const decoded = decode(definition, job.payload);
  if (decoded instanceof StepError) return parking(decoded);
  const { step, state } = decoded;
  const facts = {
    state,
    tryNumber: job.tries,
    maxAttempts: step.maxAttempts,
    taskId: job.run_id,
    attempt: job.attempt,
  };
  return {
    timeoutSecs: step.timeoutSecs,
    async run({ log, signal }) {
      const next: NextStep | null = Onward.read(await step.run({ ...facts, log, signal }));
      return { next };
    },
    // A state that cannot be written for the next step will not be next time either.
    endOf: (thrown) => ({ ...failure(errorText(thrown)), retryable: !(thrown instanceof StepError) }),
  };
}

function decode(
  { name, states, steps }: TaskDefinition,
  payload: unknown,
): { step: StepDefinition; state: unknown } | StepError {
  try {
    const decoded = decodeStep(name, states, payload);
    const step = steps.get(decoded.step);
    return step ? { step, state: decoded.state } : new UnknownStepError(name, states, decoded.step);
  } catch (error) {
    if (error instanceof StepError) return error;
    return new StepError(`the step cannot be read: ${errorText(error)}`);
  }
}

/** Nothing is executed: a person looks at it, unless a worker with another version of the task knows the step. */
function parking(fault: StepError): Call {
  const retryable = fault instanceof UnknownStepError;
  return {
    timeoutSecs: null,
    run: () => Promise.reject(fault),
    endOf: () => ({ outcome: 'failed', retryable, is_parked: true, error: fault.message }),
  };
}
