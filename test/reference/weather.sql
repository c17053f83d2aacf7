-- What workflows/weather.yml must find, from the same raw text ($1: seattle-weather.csv): a row for each year,
-- and one for the whole with year null. Dates are text, so that no driver moves them to another time zone.
with line as (
  select string_to_array(text, ',') as field
  from string_to_table($1::text, E'\n') as text
  where text ~ '^[0-9]'
),
day as (
  select
    field[1]::date as date,
    extract(year from field[1]::date)::int as year,
    field[2]::numeric as rain,
    field[3]::numeric as high,
    field[4]::numeric as low,
    field[6] as kind
  from line
),
-- Days in a row have one and the same difference between their date and their number among the dry days.
dry as (
  select year, date, date - (row_number() over (order by date))::int as stretch
  from day
  where rain = 0
),
spell as (
  select distinct on (year) year, count(*)::int as days, min(date) as since
  from dry
  group by year, stretch
  order by year, days desc, since
)
select
  year,
  count(*)::int as days,
  sum(rain)::float8 as rain_mm,
  (count(*) filter (where rain > 0))::int as wet_days,
  (count(*) filter (where kind = 'sun'))::int as sunny_days,
  (count(*) filter (where kind = 'snow'))::int as snowy_days,
  (percentile_cont(0.5) within group (order by high))::numeric(6, 2)::float8 as median_high,
  (array_agg(date::text order by high desc, date))[1] as hottest,
  max(high)::float8 as hottest_c,
  (array_agg(date::text order by low, date))[1] as coldest,
  min(low)::float8 as coldest_c,
  spell.days as dry_spell_days,
  spell.since::text as dry_spell_from
from day
left join spell using (year)
group by grouping sets ((year, spell.days, spell.since), ())
order by year nulls last
