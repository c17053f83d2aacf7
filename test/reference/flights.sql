-- What workflows/flights.yml must find, from the same raw text ($1: flights-200k.json): a row for each band
-- of distance, and one for the whole with key null. The band of late_rank 1 has the largest share late.
with flight as materialized (
  select
    case when distance < 100 then 0 when distance < 2000 then distance / 50 * 50 else 2000 end as band,
    delay,
    distance,
    round("time" * 60)::int as minute
  from json_to_recordset($1::json) as raw(delay int, distance int, "time" float8)
),
described as (
  select
    band,
    count(*)::int as flights,
    (count(*) filter (where delay >= 15))::int as late,
    sum(delay)::int as delay_sum,
    min(delay) as min,
    percentile_cont(0.5) within group (order by delay) as median,
    percentile_disc(0.9) within group (order by delay) as p90,
    max(delay) as max
  from flight
  group by grouping sets ((band), ())
),
-- An hour may begin at each quarter: a flight is in those that begin at its own quarter and the three before.
hour as (
  select band, quarter, percentile_disc(0.9) within group (order by delay) as p90
  from flight
  cross join lateral generate_series(minute / 15 - 3, minute / 15) as quarter
  where quarter between 0 and 92
  group by band, quarter
  having count(*) >= 20
),
worst_hour as (
  select distinct on (band)
    band,
    to_char(make_time(quarter / 4, quarter % 4 * 15, 0), 'HH24:MI') as begins,
    p90
  from hour
  order by band, p90 desc, quarter
),
route as (
  select band, distance, percentile_cont(0.5) within group (order by delay) as median
  from flight
  group by band, distance
  having count(*) >= 30
),
worst_route as (
  select distinct on (band) band, distance, median
  from route
  order by band, median desc, distance
)
select
  'miles-' || to_char(band, 'FM0000') as key,
  flights,
  late,
  delay_sum,
  min,
  described.median,
  described.p90,
  max,
  worst_hour.begins as worst_hour,
  worst_hour.p90 as worst_hour_p90,
  worst_route.distance as worst_route,
  worst_route.median as worst_route_median,
  (row_number() over (partition by band is null order by late::float8 / flights desc, band))::int as late_rank
from described
left join worst_hour using (band)
left join worst_route using (band)
order by band nulls last
