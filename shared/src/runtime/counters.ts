// What a process counts of its own work, shown at /metrics of its HEALTH_PORT.
import { Counter, Gauge } from 'prom-client';

export const failedSteps = new Counter({
  name: 'wfg_loop_failures_total',
  help: 'Steps of background loops that failed.',
  labelNames: ['loop'],
});

export const claimedJobs = new Counter({
  name: 'wfg_jobs_claimed_total',
  help: 'Jobs that this process has claimed.',
  labelNames: ['kind'],
});

export const reportedResults = new Counter({
  name: 'wfg_results_total',
  help: 'Results that this process has reported, by what the database answered.',
  labelNames: ['answer'],
});

export const expiredLeases = new Counter({
  name: 'wfg_leases_expired_total',
  help: 'Attempts that this process took back from workers which fell silent.',
});

export const expiredJobs = new Counter({
  name: 'wfg_jobs_expired_total',
  help: 'Jobs that this process ended because no worker had begun them in time.',
});

export const timedOutRuns = new Counter({
  name: 'wfg_runs_timed_out_total',
  help: 'Runs whose time this process found to be over.',
});

export const decidedTicks = new Counter({
  name: 'wfg_ticks_total',
  help: 'Ticks of schedules that this process has decided.',
  labelNames: ['outcome'],
});

export const sentinelLanes = new Counter({
  name: 'wfg_sentinel_lanes_total',
  help: 'Lanes that this process has rung for as their sentinel: newly due, or late.',
  labelNames: ['age'],
});

export const claimsMade = new Counter({
  name: 'wfg_claims_total',
  help: 'Claims of this process, by why it looked, and whether it found something.',
  labelNames: ['why', 'found'],
});

export const hotClaimers = new Gauge({
  name: 'wfg_claimers_hot',
  help: 'Claimers of this worker, handler hosts with them, that look by themselves since they have much to do.',
});

export const viewers = new Gauge({
  name: 'wfg_viewers',
  help: 'WebSockets and event streams that this process serves.',
});

export const refusedViewers = new Counter({
  name: 'wfg_viewers_refused_total',
  help: 'WebSockets and event streams that this process has refused, by the limit they met.',
  labelNames: ['limit'],
});
