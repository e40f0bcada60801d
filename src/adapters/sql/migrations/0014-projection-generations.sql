
alter table checkpoints
  add column generation integer not null default 1,
  add column role text collate "C" not null default 'live' check (role in ('live', 'building', 'previous')),
  add column compatible_from integer;
update checkpoints set compatible_from = version;
alter table checkpoints
  alter column generation drop default,
  alter column role drop default,
  alter column compatible_from set not null,
  drop constraint checkpoints_pkey,
  add primary key (name, generation),
  -- Deferrable: a rollback exchanges two roles in one statement.
  add constraint checkpoints_one_of_each_role unique (name, role) deferrable initially immediate;

do $$
declare
  kept record;
begin
  for kept in select name, version from checkpoints loop
    execute format('alter schema %I rename to %I',
      format('p_%s_v%s', kept.name, kept.version), format('p_%s_v%s_g1', kept.name, kept.version));
  end loop;
end
$$;
