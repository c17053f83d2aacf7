-- Runs from SQL: wfg_submit and wfg_run store one whose jobs wait until a scheduler has read its workflow.

-- The workflow as it was handed in: a scheduler reads it and completes the rows of its jobs, which wait until then.
alter table wfg_runs add column submitted json;
comment on column wfg_runs.submitted is
  'a workflow from SQL that no scheduler has read yet; of a stored workflow, its definition';

-- The names along a circle of dependencies, each needing the next (`a -> b -> a`); null when there is none. Edges are
-- (child[n], parent[n]), those of each child together. Kahn's algorithm leaves the jobs on circles and behind them; from
-- any of those, walking to one it needs must come back to itself.
create function wfg_circle(ids text[], child int[], parent int[]) returns text language plpgsql immutable as $$
declare
  needs int[] := array_fill(0, array[cardinality(ids)]);
  first_need int[] := array_fill(0, array[cardinality(ids)]);
  first_kid int[] := array_fill(0, array[cardinality(ids)]);
  kid int[]; kid_of int[]; ready int[]; path int[]; met int[];
  edges int := cardinality(child); done int := 0; count int := 0; at int; e int;
begin
  select array_agg(c order by p, c), array_agg(p order by p, c) into kid, kid_of from unnest(child, parent) as edge (c, p);
  for e in reverse edges..1 loop
    needs[child[e]] := needs[child[e]] + 1;
    first_need[child[e]] := e;
    first_kid[kid_of[e]] := e;
  end loop;
  for n in 1..cardinality(ids) loop
    if needs[n] = 0 then
      count := count + 1;
      ready[count] := n;
    end if;
  end loop;
  while done < count loop
    done := done + 1;
    e := first_kid[ready[done]];
    while e > 0 and e <= edges and kid_of[e] = ready[done] loop
      needs[kid[e]] := needs[kid[e]] - 1;
      if needs[kid[e]] = 0 then
        count := count + 1;
        ready[count] := kid[e];
      end if;
      e := e + 1;
    end loop;
  end loop;
  if done = cardinality(ids) then return null; end if;
  at := 1;
  while needs[at] = 0 loop at := at + 1; end loop;
  met := array_fill(0, array[cardinality(ids)]);
  count := 0;
  while met[at] = 0 loop
    count := count + 1;
    path[count] := at;
    met[at] := count;
    e := first_need[at];
    while needs[parent[e]] = 0 loop e := e + 1; end loop;
    at := parent[e];
  end loop;
  path[count + 1] := at;
  return (
    select string_agg(ids[step], ' -> ' order by n) from unnest(path) with ordinality as walked (step, n)
    where n >= met[at]);
end
$$;

-- Stores a run whose jobs all wait for a scheduler to read `submitted`.
create function wfg_insert_run(id uuid, workflow_id text, name text, submitted json, ids text[], names text[],
  types text[], child int[], parent int[])
returns void language plpgsql set search_path from current as $$
#variable_conflict use_column
begin
  insert into wfg_runs (id, workflow_id, name, submitted, open_jobs) values ($1, $2, $3, $4, cardinality(ids));
  -- One pass over jobs and edges, without a join that could be planned badly for many of them.
  insert into wfg_jobs (run_id, position, job_id, name, workflow_id, workflow_type, state, kind, required_labels, parents,
    children, blocked_on)
  select $1, j.position, j.job_id, j.name, $2, j.type, 'blocked', case when j.type is null then 'command' else 'event' end,
    array[coalesce(':event ' || j.type, ':command')], j.parents, j.children, cardinality(j.parents)
  from (
    select part.position, max(part.id) as job_id, max(part.name) as name, max(part.type) as type,
      coalesce(array_agg(part.parent order by part.n) filter (where part.parent is not null), '{}') as parents,
      coalesce(array_agg(part.child order by part.n) filter (where part.child is not null), '{}') as children
    from (
      select position::int, id, name, type, null::int as parent, null::int as child, 0 as n
      from unnest(ids, names, types) with ordinality as job (id, name, type, position)
      union all
      select c, null, null, null, p, null, n from unnest(child, parent) with ordinality as edge (c, p, n)
      union all
      select p, null, null, null, null, c, n from unnest(child, parent) with ordinality as edge (c, p, n)
    ) part
    group by part.position
  ) j;
  perform wfg_ring_settle();
end
$$;

-- What keeps a job, as it was handed in, from being a node of a graph; null: nothing. All else a scheduler finds.
create function wfg_job_fault(id text, job json, in_file boolean) returns text language plpgsql immutable as $$
declare
  needs json := case when in_file then job -> 'needs' else job -> 'depends_on' end;
  needs_key text := case when in_file then 'needs' else 'depends_on' end;
  command text;
begin
  if json_typeof(job) <> 'object' then return 'must be a job'; end if;
  if id is null or char_length(id) not between 1 and 255 or id ~ '[^A-Za-z0-9_.-]' or id in ('.', '..', '__proto__') then
    return format('Job id ''%s'' must match [A-Za-z0-9_.-]{1,255}', id);
  end if;
  if json_typeof(needs) = 'array' then
    if exists (select from json_array_elements(needs) as need (value) where json_typeof(value) <> 'string') then
      return needs_key || ': must be ids of jobs';
    end if;
  elsif not in_file or json_typeof(needs) not in ('string', 'null') then
    return needs_key || ': must be a list of ids of jobs';
  end if;
  if in_file and json_typeof(job -> 'uses') is not null then
    if json_typeof(job -> 'uses') = 'string' and wfg_is_printable(job ->> 'uses') then
      return null;
    end if;
    return 'uses: must be 1 to 255 characters, none of them a control character';
  end if;
  if not in_file then
    command := job ->> 'command';
  else
    if json_typeof(job -> 'steps') = 'array' then
      select string_agg(step ->> 'run', E'\n') into command from json_array_elements(job -> 'steps') as list (step)
      where step ->> 'run' ~ '\S';
    end if;
    command := coalesce(command, job ->> 'run');
  end if;
  if command is null or command !~ '\S' then
    return format('Job ''%s'': Job must have either ''run'' or ''steps'', or ''uses''', id);
  elsif octet_length(command) > 1048576 then
    return format('Job ''%s'': the command is longer than 1 MiB', id);
  end if;
  return null;
end
$$;

-- Starts a run of a workflow, in the form of a file or in workflow-graph's. What makes the graph is checked here; the
-- rest, its expressions among it, by the scheduler that reads it before anything starts.
create function wfg_submit(workflow json, idempotency_key text default null) returns uuid
language plpgsql set search_path from current as $$
declare
  made uuid := wfg_uuid7(); known uuid; fault text; jobs json; in_file boolean;
  ids text[]; names text[]; types text[]; places jsonb; child int[]; parent int[]; edges int;
begin
  if workflow is null or json_typeof(workflow) <> 'object' then
    fault := 'a workflow must be an object with name and jobs';
  elsif octet_length(workflow::text) > 16777216 then
    fault := 'the workflow is larger than 16 MiB';
  elsif wfg_is_too_deep(workflow) then
    fault := 'it is nested too deeply';
  end if;
  if fault is null then
    workflow := wfg_storable(workflow);
    known := wfg_once('wfg_submit', idempotency_key, workflow, made);
    if known is not null then return known; end if;
    jobs := workflow -> 'jobs';
    in_file := json_typeof(jobs) = 'object';
    if json_typeof(workflow -> 'name') is distinct from 'string' or char_length(workflow ->> 'name') not between 1 and 1000 then
      fault := 'name: must be text of 1 to 1000 characters';
    elsif jobs is null or json_typeof(jobs) not in ('object', 'array') then
      fault := 'jobs: must be a map of jobs by their ids (or workflow-graph''s array of jobs)';
    end if;
  end if;
  if fault is null then
    select coalesce(array_agg(id order by n), '{}'), coalesce(array_agg(coalesce(job ->> 'name', id) order by n), '{}'),
      coalesce(array_agg(case when in_file then job ->> 'uses' end order by n), '{}'),
      (array_agg(path || ': ' || wrong order by n) filter (where wrong is not null))[1],
      coalesce(jsonb_object_agg(id, n) filter (where id is not null), '{}')
    into ids, names, types, fault, places
    from (
      select n, key as id, value as job, 'jobs.' || key as path
      from json_each(case when in_file then jobs end) with ordinality as entry (key, value, n)
      union all
      select n, case when json_typeof(value) = 'object' then value ->> 'id' end, value, 'jobs.' || n - 1
      from json_array_elements(case when not in_file then jobs end) with ordinality as element (value, n)
    ) given
    cross join lateral wfg_job_fault(id, job, in_file) as checked (wrong);
    if cardinality(ids) > 10000 then
      fault := format('jobs: %s jobs are more than the 10000 a workflow may have', cardinality(ids));
    end if;
  end if;
  if fault is null and (select count(*) from jsonb_object_keys(places)) < cardinality(ids) then
    select format('jobs: Job ''%s'' appears twice', id) into fault from unnest(ids) as named (id)
    group by id having count(*) > 1 order by id limit 1;
  end if;
  if fault is null then
    -- Which jobs are needed is looked up in `places`: a join could be planned badly for many of them.
    select coalesce(array_agg(n order by n, m), '{}'), coalesce(array_agg((places ->> need)::int order by n, m), '{}'),
      (array_agg(format('jobs: Job ''%s'' depends on ''%s'', which doesn''t exist', ids[n], need) order by n, m)
        filter (where not places ? need))[1]
    into child, parent, fault
    from (
      select n::int, need, min(m) as m
      from (
        select (places ->> key)::int as n, value -> 'needs' as needs
        from json_each(case when in_file then jobs end) as entry (key, value)
        union all
        select n, value -> 'depends_on'
        from json_array_elements(case when not in_file then jobs end) with ordinality as element (value, n)
      ) given
      cross join lateral json_array_elements_text(
        case json_typeof(needs) when 'array' then needs when 'string' then json_build_array(needs) else '[]' end)
        with ordinality as list (need, m)
      group by n, need
    ) edge;
    edges := cardinality(child);
    if edges > 200000 then
      fault := format('jobs: %s dependencies are more than the 200000 a workflow may have', edges);
    end if;
  end if;
  if fault is null then
    fault := 'jobs: The jobs need each other in a circle: ' || wfg_circle(ids, child, parent);
  end if;
  if fault is not null then
    raise exception 'the workflow is not valid: %', fault using errcode = 'WF001',
      hint = 'mend it and submit it again; deploy/workflow-file.md has every key';
  end if;
  perform wfg_insert_run(made, null, workflow ->> 'name', workflow, ids, names, types, child, parent);
  return made;
end
$$;

-- Starts a run of a stored workflow, whether or not another goes on.
create function wfg_run(workflow_id text) returns uuid language plpgsql set search_path from current as $$
declare
  made uuid := wfg_uuid7(); its wfg_workflows; places jsonb;
begin
  select * into its from wfg_workflows w where w.id = wfg_run.workflow_id;
  if not found then
    raise exception 'there is no workflow %', quote_nullable(workflow_id) using errcode = 'WF002',
      hint = 'select id from wfg_workflows lists them; select wfg_submit(…) runs one that is not stored';
  end if;
  select coalesce(jsonb_object_agg(job ->> 'id', n), '{}') into places
  from json_array_elements(its.definition -> 'jobs') with ordinality as list (job, n);
  perform wfg_insert_run(made, its.id, its.name, its.definition, ids, names, types, child, parent)
  from (
    select coalesce(array_agg(job ->> 'id' order by n), '{}') as ids, coalesce(array_agg(job ->> 'name' order by n), '{}') as names,
      coalesce(array_agg(job ->> 'uses' order by n), '{}') as types
    from json_array_elements(its.definition -> 'jobs') with ordinality as list (job, n)
  ) node
  cross join (
    select coalesce(array_agg(n::int order by n, m), '{}') as child,
      coalesce(array_agg((places ->> need)::int order by n, m), '{}') as parent
    from json_array_elements(its.definition -> 'jobs') with ordinality as list (job, n)
    cross join lateral json_array_elements_text(job -> 'needs') with ordinality as needed (need, m)
  ) edge;
  return made;
end
$$;
