
create function idempotency_claim(
  modes text[], company_ids text[], key_hashes text[], body_hashes text[], lease_tokens text[],
  leases_until text[], command_ids text[], accepted text[], nows text[], overs text[], same_bodies text[]
) returns table (
  place integer, body_hash text, lease_token text, leased_until text, command_id text, accepted_at text, invoice_id text
) language plpgsql as $$
#variable_conflict use_column
declare
  i integer;
begin
  for i in
    select n from unnest(modes, company_ids, key_hashes) with ordinality w (mode, company, hash, n)
    order by mode collate "C", company collate "C", hash collate "C", n
  loop
    -- As in 0024, but for the last line: abandoned is also a claim of the same body under another key.
    return query
    insert into idempotency_keys as k
      (mode, company_id, key_hash, body_hash, lease_token, leased_until, command_id, accepted_at)
    values (modes[i], company_ids[i], key_hashes[i], body_hashes[i], lease_tokens[i], leases_until[i],
      command_ids[i], accepted[i])
    on conflict (mode, company_id, key_hash) do update set (
      body_hash, command_id, accepted_at, invoice_id, lease_token, leased_until
    ) = (
      select
        case when t.is_over then excluded.body_hash else k.body_hash end,
        case when t.is_over then excluded.command_id else k.command_id end,
        case when t.is_over then excluded.accepted_at else k.accepted_at end,
        case when t.is_over then null else k.invoice_id end,
        case when t.is_over or t.is_abandoned then excluded.lease_token else k.lease_token end,
        case when t.is_over or t.is_abandoned then excluded.leased_until else k.leased_until end
      from (select
        (k.invoice_id is not null or k.leased_until <= nows[i]) and k.accepted_at <= overs[i] as is_over,
        k.invoice_id is null and k.leased_until <= nows[i] and k.accepted_at > overs[i]
          and k.body_hash in (excluded.body_hash, same_bodies[i]) as is_abandoned) t
    )
    returning i, k.body_hash, k.lease_token, k.leased_until, k.command_id, k.accepted_at, k.invoice_id;
  end loop;
end
$$;

-- One key is in use: a row's lock decides.
create function duplicate_marks_place_one(
  fingerprints text[], legacies text[], streams text[], instants text[], placers uuid[], younger_than text[]
) returns table (place integer, stream text, at text, placed_by uuid) language plpgsql as $$
#variable_conflict use_column
declare
  i integer;
begin
  for i in
    select n from unnest(fingerprints) with ordinality w (fingerprint, n) order by fingerprint collate "C", n
  loop
    return query
    select i, m.stream, m.at, m.placed_by from duplicate_marks m
    where m.fingerprint = legacies[i] and m.at > younger_than[i];
    continue when found;
    return query
    insert into duplicate_marks as m (fingerprint, stream, at, placed_by)
    values (fingerprints[i], streams[i], instants[i], placers[i])
    on conflict (fingerprint) do update set (stream, at, placed_by) = (
      select
        case when t.is_free then excluded.stream else m.stream end,
        case when t.is_free then excluded.at else m.at end,
        case when t.is_free then excluded.placed_by else m.placed_by end
      from (select younger_than[i] is null or m.at <= younger_than[i] as is_free) t
    )
    returning i, m.stream, m.at, m.placed_by;
  end loop;
end
$$;

-- Several keys are in use, or a mark is taken over. wants: to which request each fingerprint belongs. All rows are there and
-- locked before the first is looked at, in the order that everybody keeps.
create function duplicate_marks_place_each(
  fingerprints text[], wants integer[], legacies text[], streams text[], instants text[], placers uuid[],
  younger_than text[], from_streams text[], from_instants text[]
) returns table (place integer, stream text, at text, placed_by uuid) language plpgsql as $$
#variable_conflict use_column
declare
  nobody constant uuid := '00000000-0000-0000-0000-000000000000';
  one text;
  own text[];
  i integer;
begin
  for one in select distinct f collate "C" as f from unnest(fingerprints) w (f) order by f loop
    insert into duplicate_marks as m (fingerprint, stream, at, placed_by) values (one, '', '', nobody)
    on conflict (fingerprint) do update set placed_by = m.placed_by;
  end loop;
  for i in 1 .. array_length(streams, 1) loop
    own := array(select f from unnest(fingerprints, wants) w (f, want) where want = i);
    return query
    select i, m.stream, m.at, m.placed_by from duplicate_marks m
    where (m.fingerprint = legacies[i] or m.fingerprint = any(own)) and m.at > younger_than[i]
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
