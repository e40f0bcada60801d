
create table if not exists vault_master_keys (
  generation text collate "C" primary key,
  key_id text collate "C" not null
);

create table if not exists vault_day_keys (
  day text collate "C" primary key,
  sealed text not null
);

create table if not exists vault_certificates (
  company_id text collate "C" not null,
  certificate_id text collate "C" not null,
  sealed text not null,
  created_at text not null,
  primary key (company_id, certificate_id)
);
