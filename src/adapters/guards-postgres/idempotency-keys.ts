import type pg from 'pg';
import { addSeconds, type Instant, isBefore } from '../../domain/shared/time.js';
import type { IdempotencyKeys, KeyOwner, KeyState } from '../../ports/guards.js';
import type { GuardOptions } from './guards.js';

type KeyRow = {
  body_hash: string;
  lease_token: string;
  leased_until: Instant;
  command_id: string;
  accepted_at: Instant;
  invoice_id: string | null;
};

export const idempotencyKeys = (
  db: pg.Pool,
  { idempotencyTtlSeconds, leaseSeconds }: GuardOptions,
): IdempotencyKeys => {
  const stateOf = (row: KeyRow, bodyHash: string, now: Instant): KeyState => {
    const leased = row.invoice_id === null && isBefore(now, row.leased_until);
    const over = !isBefore(now, addSeconds(row.accepted_at, idempotencyTtlSeconds));
    if (over) return leased ? { kind: 'in_use' } : { kind: 'free' };
    if (row.body_hash !== bodyHash) return { kind: 'reuse' };
    if (row.invoice_id !== null) return { kind: 'done', invoiceId: row.invoice_id };
    return leased ? { kind: 'in_use' } : { kind: 'free' };
  };

  return {
    claim: async (owner, bodyHash, fresh, now) => {
      const values = [
        ...idOf(owner),
        bodyHash,
        fresh.leaseToken,
        addSeconds(now, leaseSeconds),
        fresh.commandId,
        fresh.acceptedAt,
        now,
        addSeconds(now, -idempotencyTtlSeconds),
      ];
      const { rows } = await db.query<KeyRow>({ name: 'key-claim', text: CLAIM, values });
      const row = rows[0];
      if (row === undefined) throw new Error('a claim came back without its row');
      if (row.lease_token === fresh.leaseToken) {
        const claim = { leaseToken: row.lease_token, commandId: row.command_id, acceptedAt: row.accepted_at };
        return { kind: 'claimed', claim };
      }
      const state = stateOf(row, bodyHash, now);
      if (state.kind === 'free') throw new Error('a free key was not claimed');
      return state;
    },
    markDone: async (owner, leaseToken, invoiceId) => {
      const values = [...idOf(owner), leaseToken, invoiceId];
      return (await db.query({ name: 'key-done', text: DONE, values })).rowCount === 1;
    },
    release: async (owner, leaseToken) => {
      await db.query({ name: 'key-release', text: RELEASE, values: [...idOf(owner), leaseToken] });
    },
  };
};

const idOf = ({ mode, companyId, keyHash }: KeyOwner): string[] => [mode, companyId, keyHash];

const OWNED = 'mode = $1 and company_id = $2 and key_hash = $3';

/** Nobody works on it, and it is past its time. $9: now, $10: now minus the time to live. */
const OVER = '((k.invoice_id is not null or k.leased_until <= $9) and k.accepted_at <= $10)';
/** Its process died before an invoice came, and this is its retry. */
const ABANDONED = '(k.invoice_id is null and k.leased_until <= $9 and k.accepted_at > $10 and k.body_hash = $4)';

/**
 * A row that may not be claimed is written back as it is: so the one statement always returns the row that decided,
 * also one that another transaction inserted meanwhile. Our lease token in it means that the claim is ours.
 */
const CLAIM = `insert into idempotency_keys as k
    (mode, company_id, key_hash, body_hash, lease_token, leased_until, command_id, accepted_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (mode, company_id, key_hash) do update set
    body_hash = case when ${OVER} then excluded.body_hash else k.body_hash end,
    command_id = case when ${OVER} then excluded.command_id else k.command_id end,
    accepted_at = case when ${OVER} then excluded.accepted_at else k.accepted_at end,
    invoice_id = case when ${OVER} then null else k.invoice_id end,
    lease_token = case when ${OVER} or ${ABANDONED} then excluded.lease_token else k.lease_token end,
    leased_until = case when ${OVER} or ${ABANDONED} then excluded.leased_until else k.leased_until end
  returning body_hash, lease_token, leased_until, command_id, accepted_at, invoice_id`;

const DONE = `update idempotency_keys set invoice_id = $5 where ${OWNED} and lease_token = $4`;

const RELEASE = `delete from idempotency_keys where ${OWNED} and lease_token = $4 and invoice_id is null`;
