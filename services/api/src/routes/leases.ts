// Jobs as a worker has them that works over HTTP: claim one, keep its lease, report on it.
import { OpenAPIHono } from '@hono/zod-openapi';
import { jobKey } from '@wfg/shared/contract/job-key';
import { toStorableText } from '@wfg/shared/contract/json';
import { type Lease, parseLease } from '@wfg/shared/contract/lease';
import { type Issue, WfgError } from '@wfg/shared/contract/problem';
import * as routes from '@wfg/shared/contract/routes/leases';
import { withTx } from '@wfg/shared/db/tx';
import { holdAttempt, readNotOn, renewForeign, storePush } from '@wfg/shared/queries/foreign-leases';
import { isJobCancelled } from '@wfg/shared/queries/job-cancelled';
import { withPartitions } from '@wfg/shared/queries/partitions';
import { acceptPush } from '@wfg/shared/rules/pushed-log';
import type { ApiContext } from '../context.ts';
import { visitorOf } from '../access/visitor.ts';
import { claimOverHttp } from '../foreign/claim.ts';
import { endAttempt } from '../foreign/end-attempt.ts';
import { wireWorkflowId } from '../foreign/queued-job.ts';
import { bind } from '../http/bind.ts';
import { jsonBody } from '../http/body.ts';
import { keyOf } from '../http/once.ts';
import { detailOf } from '../http/problems.ts';

const MAX_REPORT_BYTES = 4 * 1024 * 1024;
/** Of an error's text: what our own workers send of the end of the output, and what may stand before it. */
const MAX_ERROR_CHARS = 8_192;

export function leaseRoutes(context: ApiContext): OpenAPIHono {
  const { pool, doorbell, watched, logMaxBytes } = context;
  const app = new OpenAPIHono();

  app.openapi(bind(app, routes.claimJob), async (c) => {
    const client = { gone: c.req.raw.signal, admit: () => context.gate.admit(visitorOf(c)) };
    const order = await jsonBody(c, routes.claimJob);
    const claimed = await claimOverHttp(context, order, client, keyOf(c, order));
    // A server that stops waits for every connection to close.
    if (context.waiting.isOver()) c.header('connection', 'close');
    return c.json(claimed, 200);
  });

  app.openapi(bind(app, routes.renewLease), async (c) => {
    const renewed = await renewForeign(pool, leaseOf(c.req.valid('param').lease));
    if (!renewed) throw lost();
    return c.json(renewed, 200);
  });

  app.openapi(bind(app, routes.completeJob), async (c) => {
    const lease = leaseOf(c.req.valid('param').lease);
    const { outputs } = await jsonBody(c, routes.completeJob, MAX_REPORT_BYTES);
    const pairs = Object.entries(outputs).map((pair) => pair.map(toStorableText));
    const state = await endAttempt(context, lease, {
      outcome: 'completed',
      outputs: Object.fromEntries(pairs),
    });
    if (state === null) throw lost();
    return c.json({ state }, 200);
  });

  app.openapi(bind(app, routes.failJob), async (c) => {
    const lease = leaseOf(c.req.valid('param').lease);
    const { error, retryable } = await jsonBody(c, routes.failJob);
    // Workers say it in the text alone.
    const code = /^exit code (\d{1,3})\b/.exec(error)?.[1];
    const exit_code = code === undefined ? null : Number(code);
    const isFinal = !retryable || (exit_code !== null && (await readNotOn(pool, lease)).includes(exit_code));
    const state = await endAttempt(context, lease, {
      outcome: 'failed',
      retryable: !isFinal,
      error: toStorableText(error.slice(0, MAX_ERROR_CHARS)),
      exit_code,
    });
    if (state === null) throw lost();
    return c.json({ state }, 200);
  });

  app.openapi(bind(app, routes.pushLog), async (c) => {
    const lease = leaseOf(c.req.valid('param').lease);
    const { chunks } = await jsonBody(c, routes.pushLog, MAX_REPORT_BYTES);
    const { next, stored } = await withPartitions(pool, () =>
      withTx(pool, async (tx) => {
        const held = await holdAttempt(tx, lease);
        if (!held) throw lost();
        const workflow_id = wireWorkflowId({ ...held, run_id: lease.run_id });
        assertOwn(chunks, { workflow_id, job_id: held.job_id, ...lease });
        const rows = acceptPush(held.log, chunks, logMaxBytes);
        if (rows.length > 0) await storePush(tx, lease, held, rows);
        return { next: held.log.next, stored: rows.length };
      }),
    );
    const key = jobKey(lease);
    if (stored > 0 && watched.has(key)) doorbell.ring({ logs: [key] });
    return c.json({ next_sequence: next }, 200);
  });

  app.openapi(bind(app, routes.isCancelled), async (c) => {
    const { workflow, job } = c.req.valid('param');
    return c.json(await isJobCancelled(pool, workflow, job), 200);
  });

  return app;
}

function leaseOf(id: string): Lease {
  const lease = parseLease(id);
  if (!lease) throw lost();
  return lease;
}

function lost(): WfgError {
  return new WfgError(
    'lease_lost',
    'the lease is lost: stop what runs for it; nothing of it is taken any more',
  );
}

interface Ids {
  workflow_id?: string | null;
  job_id?: string;
  run_id?: string | undefined;
  attempt?: number | undefined;
}

/** @throws {WfgError} invalid_body when a chunk says it is of another job. */
function assertOwn(chunks: readonly Ids[], { workflow_id, job_id, run_id, attempt }: Required<Ids>): void {
  const own: Ids = { workflow_id, job_id, run_id, attempt };
  const names = ['workflow_id', 'job_id', 'run_id', 'attempt'] as const;
  const issues = chunks.flatMap((chunk, index): Issue[] =>
    names.flatMap((name) => {
      const told = chunk[name] ?? own[name];
      const message = `must be ${own[name]}, as the lease has it`;
      return told === own[name] ? [] : [{ path: `chunks.${index}.${name}`, message }];
    }),
  );
  if (issues.length > 0)
    throw new WfgError('invalid_body', detailOf(issues.slice(0, 3)), issues.slice(0, 100));
}
