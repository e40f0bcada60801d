
alter table vault_master_keys
  add column if not exists given_up_at text collate "C",
  add column if not exists given_up_by text collate "C";
