create table if not exists distribution_progress (
  mode text collate "C" not null,
  company_id text collate "C" not null,
  due_at text collate "C" not null,
  progress text not null,
  primary key (mode, company_id)
);