
create table event_log (
  position bigint primary key,
  stream text collate "C" not null,
  revision integer not null check (revision >= 0),
  id uuid not null,
  type text not null,
  record text not null,
  hash text not null,
  unique (stream, revision)
);

create table event_log_head (
  only_row boolean primary key default true check (only_row),
  position bigint not null,
  identity uuid not null
) with (fillfactor = 10);

insert into event_log_head (position, identity) values (0, gen_random_uuid());

-- Several appends in one statement, each with its own result. expected: -1 for "none". counts: events of each append;
-- the event_ arrays hold the events of all appends, one after the other.
create function event_log_append(
  streams text[], expected integer[], counts integer[],
  event_streams text[], event_revisions integer[],
  event_ids uuid[], event_types text[], event_records text[], event_hashes text[],
  out accepted boolean[], out revisions integer[]
) language plpgsql as $$
declare
  locked bigint;
  head bigint;
  past integer := 0;
  actual integer;
begin
  select h.position into strict locked from event_log_head h for update;

  -- The usual case, set-based: no stream twice and every expectation right.
  if (
    select count(distinct a.stream) = cardinality(streams) and bool_and(a.expected = coalesce(
      (select e.revision from event_log e where e.stream = a.stream order by e.revision desc limit 1), -1))
    from unnest(streams, expected) a (stream, expected)
  ) then
    insert into event_log (position, stream, revision, id, type, record, hash)
    select locked + n, stream, revision, id, type, record, hash
    from unnest(event_streams, event_revisions, event_ids, event_types, event_records, event_hashes)
      with ordinality e (stream, revision, id, type, record, hash, n);
    update event_log_head set position = locked + cardinality(event_ids);
    select array_agg(true order by n), array_agg(a.expected + a.count order by n) into accepted, revisions
    from unnest(expected, counts) with ordinality a (expected, count, n);
    return;
  end if;

  accepted := '{}';
  revisions := '{}';
  head := locked;
  for i in 1 .. cardinality(streams) loop
    actual := (select e.revision from event_log e where e.stream = streams[i] order by e.revision desc limit 1);
    if coalesce(actual, -1) = expected[i] then
      insert into event_log (position, stream, revision, id, type, record, hash)
      select head + n - past, event_streams[n], event_revisions[n], event_ids[n], event_types[n],
        event_records[n], event_hashes[n]
      from generate_series(past + 1, past + counts[i]) n;
      head := head + counts[i];
      accepted := accepted || true;
      revisions := revisions || (expected[i] + counts[i]);
    elsif counts[i] = (
      select count(*) from generate_series(past + 1, past + counts[i]) n
      join event_log e on e.stream = event_streams[n] and e.revision = event_revisions[n] and e.id = event_ids[n]
    ) then
      accepted := accepted || true;
      revisions := revisions || (expected[i] + counts[i]);
    else
      accepted := accepted || false;
      revisions := revisions || actual;
    end if;
    past := past + counts[i];
  end loop;
  if head > locked then
    update event_log_head set position = head;
  end if;
end
$$;
