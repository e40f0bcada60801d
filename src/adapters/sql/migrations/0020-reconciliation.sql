
create table if not exists reconciliation_walks (
  mode text collate "C" primary key,
  walk text not null
);
