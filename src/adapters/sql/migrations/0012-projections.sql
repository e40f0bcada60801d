
create schema if not exists read;

create table if not exists checkpoints (
  name text collate "C" not null,
  version integer not null,
  log_identity text not null,
  position text,
  updated_at text not null,
  primary key (name, version)
) with (fillfactor = 20);
