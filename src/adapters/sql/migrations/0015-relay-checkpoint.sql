create table if not exists relay_checkpoint (
  log_identity text collate "C" primary key,
  position numeric(20) not null
);