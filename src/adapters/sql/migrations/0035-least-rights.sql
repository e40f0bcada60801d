
-- Retention. Nothing but the past of a deleted test invoice can be removed, whoever calls.
create function event_log_cut(cut_stream text, before bigint) returns void language plpgsql as $$
declare
  last record;
begin
  select e.revision, e.type into last from event_log e where e.stream = cut_stream order by e.revision desc limit 1;
  if not found then
    return;
  end if;
  if not cut_stream ^@ 'nfseTest-' or last.type <> 'TestInvoiceDeleted' then
    raise exception 'only the past of a deleted test invoice may be cut';
  end if;
  delete from event_log e where e.stream = cut_stream and e.revision < least(before, last.revision);
end
$$;

-- A schema for one generation of a projection. Its table belongs to whoever makes it, who is the service.
create function projection_schema_make(wanted text) returns void language plpgsql as $$
begin
  if wanted !~ '^p_[a-z0-9_]+_v[0-9]+_g[0-9]+$' then
    raise exception 'this is no schema of a projection';
  end if;
  execute format('create schema %I', wanted);
  execute format('grant usage, create on schema %I to %I', wanted, session_user);
end
$$;

create function projection_schema_drop(unwanted text) returns void language plpgsql as $$
begin
  if unwanted !~ '^p_[a-z0-9_]+_v[0-9]+_g[0-9]+$' then
    raise exception 'this is no schema of a projection';
  end if;
  execute format('drop schema if exists %I cascade', unwanted);
end
$$;

do $$
declare
  each text;
begin
  foreach each in array array[
    'event_log_append(text[], integer[], integer[], text[], integer[], uuid[], text[], text[], text[])',
    'event_log_cut(text, bigint)',
    'projection_schema_make(text)',
    'projection_schema_drop(text)'
  ] loop
    execute format('alter function %s security definer set search_path = pg_catalog, %I, pg_temp',
      each, current_schema());
    execute format('revoke all on function %s from public', each);
  end loop;
end
$$;
