create table if not exists certificate_refusals (
  mode text collate "C" not null,
  company_id text collate "C" not null,
  certificate_id text collate "C" not null,
  reason text not null,
  since text collate "C" not null,
  seen bigint not null,
  last_at text collate "C" not null,
  probe_at text collate "C" not null,
  primary key (mode, company_id)
);