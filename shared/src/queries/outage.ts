// Outages do not consume leases: after the database, or every reaper, was away each lease lasts its own time once more,
// in which its worker can renew it. Nothing is written to the jobs for it, so no locked row is left out; that the leases
// are longer follows from one row, which each pass of a reaper stamps in the statement that it makes anyway.

/**
 * When nobody looked for two intervals of a reaper and a little more, it is an outage; also when the look itself took so
 * long: then the database answered nobody. What a look begins is waited for by no other look.
 */
const STEADY = `make_interval(secs => 2 * $1::float8 + 2)`;

/** As SQL, with its interval in seconds as $1: a reaper is here. Returns `resumed`: it found that an outage is over. */
export const STAMP = `
insert into wfg_reaper as r (steady_until, resumed_at)
values (wfg_now() + ${STEADY}, '-infinity')
on conflict (one) do update
set steady_until = greatest(r.steady_until, excluded.steady_until),
    resumed_at = case when r.steady_until < wfg_now() then wfg_now() else r.resumed_at end
returning resumed_at = wfg_now() as resumed`;

// Read in each statement that judges leases, not only in the pass before it: a reaper may be stopped between the two.
const RESUMED = `coalesce(
    (select case when steady_until < wfg_now() then wfg_now() else resumed_at end from wfg_reaper), '-infinity')`;

/** As SQL: the time of the lease of `j`, an active job, is over if it is not renewed. */
export const EXPIRED = 'j.lease_expires_at < wfg_now()';

/** As SQL: the worker of `j`, an active job, had the time of its lease since the last outage. */
export const HAD_ITS_TIME = `${RESUMED} + make_interval(secs => j.lease_secs) < wfg_now()`;

/** As SQL: the lease of `j`, an active job, is over. */
export const LEASE_OVER = `(${EXPIRED} and ${HAD_ITS_TIME})`;
