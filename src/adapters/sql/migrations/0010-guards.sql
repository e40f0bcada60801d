
create table if not exists idempotency_keys (
  mode text collate "C" not null,
  company_id text collate "C" not null,
  key_hash text collate "C" not null,
  body_hash text collate "C" not null,
  lease_token text collate "C" not null,
  leased_until text collate "C" not null,
  command_id text collate "C" not null,
  accepted_at text collate "C" not null,
  invoice_id text collate "C",
  primary key (mode, company_id, key_hash)
);

-- placed_by tells the caller whose statement placed the mark, also when two marks look the same.
create table if not exists duplicate_marks (
  fingerprint text collate "C" primary key,
  stream text collate "C" not null,
  at text collate "C" not null,
  placed_by uuid not null
);

create table if not exists lookup_memos (
  stream text collate "C" not null,
  work text collate "C" not null,
  asked integer not null,
  last_asked_at text collate "C" not null,
  first_absent_at text collate "C",
  primary key (stream, work)
);
