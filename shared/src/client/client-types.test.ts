// What callers give and get is worked out from the routes.
import { expectTypeOf, test } from 'vitest';
import type { LogEvent } from '../contract/log.ts';
import type { getRawLog, streamLog } from '../contract/routes/jobs.ts';
import type { AnswerOf, RequestOf, StreamRoute } from '../contract/routes/route-types.ts';
import type { cancelRun, getRun, listRuns, RunPage, submitRun } from '../contract/routes/runs.ts';
import type { getReadiness } from '../contract/routes/system.ts';
import type { listWorkers } from '../contract/routes/workers.ts';
import type { deleteWorkflow, putWorkflow } from '../contract/routes/workflows.ts';
import type { Run } from '../contract/run.ts';
import type { WorkflowView } from '../contract/workflow.ts';
import { type Client, createClient, type GivenTo } from './client.ts';

const wfg: Client = createClient({ url: 'http://127.0.0.1' });

test('answers', () => {
  expectTypeOf<AnswerOf<typeof getRun>>().toEqualTypeOf<Run>();
  expectTypeOf<AnswerOf<typeof listRuns>>().toEqualTypeOf<RunPage>();
  expectTypeOf<AnswerOf<typeof putWorkflow>>().toEqualTypeOf<WorkflowView>();
  expectTypeOf<AnswerOf<typeof getRawLog>>().toEqualTypeOf<string>();
  expectTypeOf<AnswerOf<typeof deleteWorkflow>>().toEqualTypeOf<undefined>();
  expectTypeOf<AnswerOf<typeof getReadiness>>().toEqualTypeOf<{ ready: boolean; reasons: string[] }>();
  expectTypeOf(wfg<typeof getRun>).returns.resolves.toEqualTypeOf<Run>();
  expectTypeOf(wfg.answer<typeof listRuns>)
    .returns.resolves.toHaveProperty('body')
    .toEqualTypeOf<RunPage>();
  expectTypeOf(wfg.stream<typeof streamLog>).returns.toEqualTypeOf<AsyncGenerator<LogEvent>>();
});

test('what is given', () => {
  type Params = RequestOf<typeof getRun>['params'];
  expectTypeOf<{ run: string }>().toExtend<Params>();
  expectTypeOf<{ id: string }>().not.toExtend<Params>();
  type Query = RequestOf<typeof listRuns>['query'];
  expectTypeOf<{ status: 'failed'; limit: number; since: string }>().toExtend<Query>();
  expectTypeOf<{ status: 'bad' }>().not.toExtend<Query>();
  type Body = RequestOf<typeof submitRun>['body'];
  expectTypeOf<string>().toExtend<Body>();
  expectTypeOf<{ name: string; jobs: { a: { run: string } } }>().toExtend<Body>();
  expectTypeOf<{ name: string }>().not.toExtend<Body>();
  expectTypeOf<RequestOf<typeof cancelRun>['body']>().toEqualTypeOf<{ force?: boolean } | undefined>();
});

test('only what is not required may be left out', () => {
  expectTypeOf<[]>().toExtend<GivenTo<typeof listRuns>>();
  expectTypeOf<[]>().toExtend<GivenTo<typeof listWorkers>>();
  expectTypeOf<[]>().not.toExtend<GivenTo<typeof getRun>>();
  expectTypeOf<[]>().not.toExtend<GivenTo<typeof submitRun>>();
  expectTypeOf<[{ params: { run: string } }]>().toExtend<GivenTo<typeof cancelRun>>();
});

test('a route that streams nothing has no stream', () => {
  expectTypeOf<typeof streamLog>().toExtend<StreamRoute>();
  expectTypeOf<typeof getRun>().not.toExtend<StreamRoute>();
});
