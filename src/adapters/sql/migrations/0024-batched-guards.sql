
create function idempotency_claim(
  modes text[], company_ids text[], key_hashes text[], body_hashes text[], lease_tokens text[],
  leases_until text[], command_ids text[], accepted text[], nows text[], overs text[]
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
    -- A row that may not be claimed is written back as it is, so that the row which decided is always returned.
    -- Over: nobody works on it, and it is past its time. Abandoned: its process died, and this is its retry.
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
          and k.body_hash = excluded.body_hash as is_abandoned) t
    )
    returning i, k.body_hash, k.lease_token, k.leased_until, k.command_id, k.accepted_at, k.invoice_id;
  end loop;
end
$$;

-- Only under the lease token that the process holds; answers the places of those that it still held.
create function idempotency_done(
  modes text[], company_ids text[], key_hashes text[], lease_tokens text[], invoice_ids text[]
) returns integer[] language plpgsql as $$
declare
  held integer[] := '{}';
  i integer;
begin
  for i in
    select n from unnest(modes, company_ids, key_hashes) with ordinality w (mode, company, hash, n)
    order by mode collate "C", company collate "C", hash collate "C", n
  loop
    update idempotency_keys set invoice_id = invoice_ids[i]
    where mode = modes[i] and company_id = company_ids[i] and key_hash = key_hashes[i] and lease_token = lease_tokens[i];
    if found then held := held || i; end if;
  end loop;
  return held;
end
$$;

create function duplicate_marks_place(
  fingerprints text[], streams text[], instants text[], placers uuid[], younger_than text[]
) returns table (place integer, stream text, at text, placed_by uuid) language plpgsql as $$
#variable_conflict use_column
declare
  i integer;
begin
  for i in
    select n from unnest(fingerprints) with ordinality w (fingerprint, n) order by fingerprint collate "C", n
  loop
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
