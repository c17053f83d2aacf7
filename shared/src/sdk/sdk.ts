// Everything that a module of handlers and tasks imports.
export { z } from 'zod';
export { defineEvent, type EventContext, type EventDefinition, type EventHandler } from './define-event.ts';
export { defineTask, type StepContext, type TaskDefinition, unit } from './define-task.ts';
export type { Next, Onward } from './next-step.ts';
export { type FirstStep, startTask, type When } from './start-task.ts';
export { StepError } from './step-json.ts';
