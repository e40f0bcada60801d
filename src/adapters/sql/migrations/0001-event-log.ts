import type { Migration } from '../migrate.js';

/**
 * The event log (design section 3). `record` is the exact hash text; the other columns repeat what is asked for.
 * The head row is lock and counter in one: it stays locked until the commit, so positions become visible in order.
 */
export const eventLogMigration: Migration = {
  id: 1,
  name: 'event-log',
  sql: `
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
-- ids, types, records and hashes hold the events of all of them, one after the other.
create function event_log_append(
  streams text[], expected integer[], counts integer[],
  ids uuid[], types text[], records text[], hashes text[],
  out accepted boolean[], out revisions integer[]
) language plpgsql as $$
declare
  locked bigint;
  head bigint;
  past integer := 0;
  actual integer;
begin
  accepted := '{}';
  revisions := '{}';
  select h.position into strict locked from event_log_head h for update;
  head := locked;
  for i in 1 .. cardinality(streams) loop
    actual := (select e.revision from event_log e where e.stream = streams[i] order by e.revision desc limit 1);
    if coalesce(actual, -1) = expected[i] then
      insert into event_log (position, stream, revision, id, type, record, hash)
      select head + n, streams[i], expected[i] + n, ids[past + n], types[past + n], records[past + n], hashes[past + n]
      from generate_series(1, counts[i]) n;
      head := head + counts[i];
      accepted := accepted || true;
      revisions := revisions || (expected[i] + counts[i]);
    elsif counts[i] = (
      select count(*) from generate_series(1, counts[i]) n
      join event_log e on e.stream = streams[i] and e.revision = expected[i] + n and e.id = ids[past + n]
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
`,
};
