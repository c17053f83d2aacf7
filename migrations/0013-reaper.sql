-- What the reapers know of themselves, in one row: an outage does not consume leases.

create table wfg_reaper (
  one boolean primary key default true check (one),
  -- Each pass moves it ahead; a pass that comes later than it finds that the database, or every reaper, was away.
  steady_until timestamptz not null,
  -- When the last outage was found to be over: no lease ends sooner after it than it was granted for.
  resumed_at timestamptz not null
);
