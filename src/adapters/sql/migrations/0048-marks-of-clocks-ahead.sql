
-- One key is in use: a row's lock decides.
create or replace function duplicate_marks_place_one(
  fingerprints text[], legacies text[], streams text[], instants text[], placers uuid[], younger_than text[]
) returns table (place integer, stream text, at text, placed_by uuid) language plpgsql as $$
#variable_conflict use_column
declare
  i integer;
  latest text;
begin
  for i in
    select n from unnest(fingerprints) with ordinality w (fingerprint, n) order by fingerprint collate "C", n
  loop
    latest := to_char((instants[i]::timestamptz + interval '5 minutes') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
    return query
    select i, m.stream, m.at, m.placed_by from duplicate_marks m
    where m.fingerprint = legacies[i] and m.at > younger_than[i] and m.at <= latest;
    continue when found;
    return query
    insert into duplicate_marks as m (fingerprint, stream, at, placed_by)
    values (fingerprints[i], streams[i], instants[i], placers[i])
    on conflict (fingerprint) do update set (stream, at, placed_by) = (
      select
        case when t.is_free then excluded.stream else m.stream end,
        case when t.is_free then excluded.at else m.at end,
        case when t.is_free then excluded.placed_by else m.placed_by end
      from (select younger_than[i] is null or m.at <= younger_than[i] or m.at > latest as is_free) t
    )
    returning i, m.stream, m.at, m.placed_by;
  end loop;
end
$$;

-- Several keys are in use, or a mark is taken over. wants: to which request each fingerprint belongs. All rows are there and
-- locked before the first is looked at, in the order that all callers keep.
create or replace function duplicate_marks_place_each(
  fingerprints text[], wants integer[], legacies text[], streams text[], instants text[], placers uuid[],
  younger_than text[], from_streams text[], from_instants text[]
) returns table (place integer, stream text, at text, placed_by uuid) language plpgsql as $$
#variable_conflict use_column
declare
  nobody constant uuid := '00000000-0000-0000-0000-000000000000';
  one text;
  own text[];
  i integer;
  latest text;
begin
  for one in select distinct f collate "C" as f from unnest(fingerprints) w (f) order by f loop
    insert into duplicate_marks as m (fingerprint, stream, at, placed_by) values (one, '', '', nobody)
    on conflict (fingerprint) do update set placed_by = m.placed_by;
  end loop;
  for i in 1 .. array_length(streams, 1) loop
    latest := to_char((instants[i]::timestamptz + interval '5 minutes') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
    own := array(select f from unnest(fingerprints, wants) w (f, want) where want = i);
    return query
    select i, m.stream, m.at, m.placed_by from duplicate_marks m
    where (m.fingerprint = legacies[i] or m.fingerprint = any(own)) and m.at > younger_than[i] and m.at <= latest
      and (from_streams[i] is null or m.stream <> from_streams[i] or m.at <> from_instants[i])
    order by m.at desc limit 1;
    continue when found;
    update duplicate_marks m set stream = streams[i], at = instants[i], placed_by = placers[i]
    where m.fingerprint = any(own);
    return query select i, streams[i], instants[i], placers[i];
  end loop;
  delete from duplicate_marks m where m.fingerprint = any(fingerprints) and m.placed_by = nobody;
end
$$;
