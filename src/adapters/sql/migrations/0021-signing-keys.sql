
create table if not exists vault_signing_keys (
  public_key text collate "C" primary key,
  sealed text not null,
  created_at text collate "C" not null
);
