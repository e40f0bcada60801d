create table if not exists key_uses (
  key_id text collate "C" primary key,
  last_used_at text collate "C" not null
);