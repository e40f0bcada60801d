create table if not exists parked_taps (
  stream text collate "C" not null,
  kind text collate "C" not null,
  message_id text collate "C" not null,
  reason text not null,
  parked_at text collate "C" not null,
  retry_asked boolean not null default false,
  primary key (stream, kind)
);