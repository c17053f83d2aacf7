// Everything that a module of handlers and tasks imports. Node's types come along, wherever the module is.
/// <reference types="node" />
export { z } from 'zod';
export { defineEvent, type EventContext, type EventDefinition, type EventHandler } from './define-event.ts';
export { enqueue, type EnqueueOptions } from './enqueue.ts';
export { defineTask, type StepContext, type TaskDefinition, unit } from './define-task.ts';
export type { Next, Onward } from './next-step.ts';
export { type FirstStep, startTask, type When } from './start-task.ts';
export { PayloadError } from './event-payload.ts';
export { StepError } from './step-json.ts';
