
alter table vault_master_keys
  add column if not exists activated_at text collate "C",
  add column if not exists activated_by text collate "C";
