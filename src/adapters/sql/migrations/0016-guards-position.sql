
create table if not exists guards_position (
  log_identity text collate "C" primary key,
  guards numeric(20),
  operator_rows numeric(20)
) with (fillfactor = 20);

create table if not exists log_set_back (
  log_identity text collate "C" primary key,
  head numeric(20),
  seen_at text collate "C" not null
);
