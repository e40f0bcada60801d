create table if not exists document_alarms (
  notice text collate "C" not null,
  detail text collate "C" not null,
  seen bigint not null,
  first_at text collate "C" not null,
  last_at text collate "C" not null,
  last_stream text collate "C" not null,
  primary key (notice, detail)
);