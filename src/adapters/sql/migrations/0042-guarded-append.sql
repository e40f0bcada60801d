
-- The arrays up to event_hashes are those of event_log_append. guarded: the places of the acceptances among the appends; the arrays from
-- modes to invoice_ids hold their keys. marked: the places again, one for each fingerprint. An acceptance whose key has a row, or whose
-- stream has an event, is not accepted, and nothing of it is stored.
--
-- Keys come first, in the order of idempotency_claim, then the lock of the log, then marks in the order of duplicate_marks_place_one.
-- Nobody waits for a key while it holds the lock or a mark, so statements wait for each other but never in a circle.
create or replace function event_log_append_guarded(
  streams text[], expected integer[], counts integer[],
  event_streams text[], event_revisions integer[],
  event_ids uuid[], event_types text[], event_records text[], event_hashes text[],
  guarded integer[], modes text[], company_ids text[], key_hashes text[], body_hashes text[], lease_tokens text[],
  leases_until text[], command_ids text[], instants text[], invoice_ids text[],
  marked integer[], fingerprints text[],
  out accepted boolean[], out revisions integer[]
) language plpgsql as $$
declare
  free integer[];
  kept integer[];
  events integer[];
  given record;
begin
  with claimed as (
    insert into idempotency_keys as k
      (mode, company_id, key_hash, body_hash, lease_token, leased_until, command_id, accepted_at, invoice_id)
    select * from unnest(modes, company_ids, key_hashes, body_hashes, lease_tokens, leases_until, command_ids, instants, invoice_ids)
      w (mode, company_id, key_hash, body_hash, lease_token, leased_until, command_id, accepted_at, invoice_id)
    order by mode collate "C", company_id collate "C", key_hash collate "C"
    on conflict (mode, company_id, key_hash) do nothing
    returning k.lease_token
  )
  select array_agg(g.place) into free from claimed c join unnest(guarded, lease_tokens) g (place, token) on g.token = c.lease_token;

  if cardinality(free) = cardinality(guarded) then
    select a.accepted, a.revisions into accepted, revisions from event_log_append(streams, expected, counts,
      event_streams, event_revisions, event_ids, event_types, event_records, event_hashes) a;
  else
    -- Without the acceptances whose keys have rows.
    select array_agg(n order by n) into kept from generate_subscripts(streams, 1) n
    where n <> all (guarded) or n = any (free);
    accepted := array_fill(false, array[cardinality(streams)]);
    revisions := array_fill(null::integer, array[cardinality(streams)]);
    if kept is not null then
      select array_agg(e.past + i order by e.n, i) into events
      from (select n, count, sum(count) over (order by n) - count as past from unnest(counts) with ordinality c (count, n)) e,
        generate_series(1, e.count) i
      where e.n = any (kept);
      select a.accepted, a.revisions into given from event_log_append(
        array(select streams[n] from unnest(kept) with ordinality k (n, o) order by o),
        array(select expected[n] from unnest(kept) with ordinality k (n, o) order by o),
        array(select counts[n] from unnest(kept) with ordinality k (n, o) order by o),
        array(select event_streams[n] from unnest(events) with ordinality k (n, o) order by o),
        array(select event_revisions[n] from unnest(events) with ordinality k (n, o) order by o),
        array(select event_ids[n] from unnest(events) with ordinality k (n, o) order by o),
        array(select event_types[n] from unnest(events) with ordinality k (n, o) order by o),
        array(select event_records[n] from unnest(events) with ordinality k (n, o) order by o),
        array(select event_hashes[n] from unnest(events) with ordinality k (n, o) order by o)) a;
      for i in 1 .. cardinality(kept) loop
        accepted[kept[i]] := given.accepted[i];
        revisions[kept[i]] := given.revisions[i];
      end loop;
    end if;
  end if;

  if false = any (accepted) then
    delete from idempotency_keys k using unnest(guarded, modes, company_ids, key_hashes, lease_tokens)
      g (place, mode, company_id, key_hash, token)
    where k.mode = g.mode and k.company_id = g.company_id and k.key_hash = g.key_hash and k.lease_token = g.token
      and not accepted[g.place];
  end if;

  insert into duplicate_marks as m (fingerprint, stream, at, placed_by)
  select distinct on (w.fingerprint collate "C") w.fingerprint, streams[w.place], g.at, g.token::uuid
  from unnest(marked, fingerprints) w (place, fingerprint) join unnest(guarded, instants, lease_tokens) g (place, at, token) using (place)
  where accepted[w.place]
  order by w.fingerprint collate "C", g.at desc
  on conflict (fingerprint) do update set stream = excluded.stream, at = excluded.at, placed_by = excluded.placed_by;
end
$$;

do $$
declare
  append text := 'event_log_append_guarded(text[], integer[], integer[], text[], integer[], uuid[], text[], text[], text[], '
    'integer[], text[], text[], text[], text[], text[], text[], text[], text[], text[], integer[], text[])';
begin
  execute format('alter function %s security definer set search_path = pg_catalog, %I, pg_temp', append, current_schema());
  execute format('revoke all on function %s from public', append);
end
$$;
