
-- Several appends in one statement, each with its own result. expected: -1 for "none". counts: events of each append;
-- the event_ arrays hold the events of all appends, one after the other.
create or replace function event_log_append(
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
  -- Most calls hold one event, and one expression costs them less than the loops.
  if (
    counts = '{1}' and event_streams = streams and event_revisions = array[expected[1] + 1]
    and array_dims(streams) = '[1:1]' and array_dims(expected) = '[1:1]' and array_dims(event_ids) = '[1:1]'
    and array_dims(event_types) = '[1:1]' and array_dims(event_records) = '[1:1]' and array_dims(event_hashes) = '[1:1]'
    and octet_length(event_types[1]) + octet_length(event_records[1]) + octet_length(event_hashes[1]) <= 1048576
  ) is not true then
    if (
      array_dims(streams) = '[1:' || cardinality(streams) || ']'
      and array_dims(expected) = array_dims(streams)
      and array_dims(counts) = array_dims(streams)
      and array_dims(event_ids) = '[1:' || cardinality(event_ids) || ']'
      and array_dims(event_streams) = array_dims(event_ids)
      and array_dims(event_revisions) = array_dims(event_ids)
      and array_dims(event_types) = array_dims(event_ids)
      and array_dims(event_records) = array_dims(event_ids)
      and array_dims(event_hashes) = array_dims(event_ids)
    ) is not true then
      raise invalid_parameter_value using message = 'the arrays of an append are not of one length';
    end if;
    for i in 1 .. cardinality(streams) loop
      if (counts[i] between 1 and cardinality(event_ids) - past) is not true then
        raise invalid_parameter_value using message = 'the counts of the appends are not those of their events';
      end if;
      for n in 1 .. counts[i] loop
        past := past + 1;
        if (event_streams[past] = streams[i] and event_revisions[past] = expected[i] + n) is not true then
          raise invalid_parameter_value using message = 'an event is not the next of its append';
        end if;
        if (octet_length(event_types[past]) + octet_length(event_records[past]) + octet_length(event_hashes[past])
          <= 1048576) is not true then
          raise invalid_parameter_value using message = 'an event is over 1 MiB';
        end if;
      end loop;
    end loop;
    if past <> cardinality(event_ids) then
      raise invalid_parameter_value using message = 'the counts of the appends are not those of their events';
    end if;
    past := 0;
  end if;

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

-- A replaced function keeps its owner and its grants, and loses these two.
do $$
declare
  append text := 'event_log_append(text[], integer[], integer[], text[], integer[], uuid[], text[], text[], text[])';
begin
  execute format('alter function %s security definer set search_path = pg_catalog, %I, pg_temp', append, current_schema());
  execute format('revoke all on function %s from public', append);
end
$$;
