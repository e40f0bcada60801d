import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { addSeconds, type Instant } from '../../domain/shared/time.js';
import type { AcceptedKey, AcceptedMark } from '../../ports/guards-record.js';

/** One statement per table, whatever the number of rows. Returns how many were written. */
export const fillGuards = async (
  client: Pick<pg.PoolClient, 'query'>,
  { keys, marks }: { keys: readonly AcceptedKey[]; marks: readonly AcceptedMark[] },
  now: Instant,
  idempotencyTtlSeconds: number,
): Promise<number> => {
  let written = 0;
  if (keys.length > 0) {
    const over = addSeconds(now, -idempotencyTtlSeconds);
    const { rowCount } = await client.query(FILL_KEYS, [...keyColumns(keys), randomUUID(), now, over]);
    written += rowCount ?? 0;
  }
  if (marks.length > 0) {
    const { rowCount } = await client.query(FILL_MARKS, [
      marks.map(({ fingerprint }) => fingerprint),
      marks.map(({ stream }) => stream),
      marks.map(({ at }) => at),
    ]);
    written += rowCount ?? 0;
  }
  return written;
};

const keyColumns = (keys: readonly AcceptedKey[]): readonly (readonly string[])[] => [
  keys.map(({ mode }) => mode),
  keys.map(({ companyId }) => companyId),
  keys.map(({ keyHash }) => keyHash),
  keys.map(({ bodyHash }) => bodyHash),
  keys.map(({ commandId }) => commandId),
  keys.map(({ acceptedAt }) => acceptedAt),
  keys.map(({ invoiceId }) => invoiceId),
];

/**
 * Nobody holds the lease of a row that is filled in: the acceptance is over. A row stands if it is finished and not over
 * ($10), if somebody works on it now ($9) for another command, or if the acceptance is the older of two that are over.
 */
const FILL_KEYS = `insert into idempotency_keys as k
    (mode, company_id, key_hash, body_hash, lease_token, leased_until, command_id, accepted_at, invoice_id)
  select distinct on (mode, company_id, key_hash)
    mode, company_id, key_hash, body_hash, $8::text, accepted_at, command_id, accepted_at, invoice_id
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    a (mode, company_id, key_hash, body_hash, command_id, accepted_at, invoice_id)
  order by mode, company_id, key_hash, accepted_at desc
  on conflict (mode, company_id, key_hash) do update set
    body_hash = excluded.body_hash, lease_token = excluded.lease_token, leased_until = excluded.leased_until,
    command_id = excluded.command_id, accepted_at = excluded.accepted_at, invoice_id = excluded.invoice_id
  where (k.invoice_id is not null and k.accepted_at <= $10 and k.accepted_at < excluded.accepted_at)
    or (k.invoice_id is null and k.command_id = excluded.command_id)
    or (k.invoice_id is null and k.leased_until <= $9
      and (excluded.accepted_at > $10 or excluded.accepted_at >= k.accepted_at))`;

/** The youngest acceptance of a fingerprint counts. */
const FILL_MARKS = `insert into duplicate_marks as m (fingerprint, stream, at, placed_by)
  select distinct on (fingerprint) fingerprint, stream, at, gen_random_uuid()
  from unnest($1::text[], $2::text[], $3::text[]) a (fingerprint, stream, at)
  order by fingerprint, at desc
  on conflict (fingerprint) do update set stream = excluded.stream, at = excluded.at, placed_by = excluded.placed_by
  where m.at < excluded.at`;
