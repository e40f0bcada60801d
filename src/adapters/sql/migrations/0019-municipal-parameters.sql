
create table if not exists municipal_parameters (
  mode text collate "C" not null,
  ibge text collate "C" not null,
  place text collate "C" not null,
  told text,
  told_at text collate "C",
  asked_at text collate "C" not null,
  failures integer not null default 0,
  reason text,
  primary key (ibge, mode, place)
);
