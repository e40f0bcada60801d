import type pg from 'pg';
import { addSeconds, type Instant, isBefore } from '../../domain/common/time.js';
import { type ImportedKeys, type KeyOwner, UNKNOWN_BODY } from '../../ports/idempotency-keys.js';
import { restoreMissingGuards } from './guards-record.js';

export const importedKeys = (db: pg.Pool, { idempotencySeconds }: { idempotencySeconds: number }): ImportedKeys => {
  const holderOf: ImportedKeys['holderOf'] = async ({ mode, companyId, keyHash }: KeyOwner, now) => {
    const values = [mode, companyId, keyHash, addSeconds(now, -idempotencySeconds)];
    const { rows } = await db.query<{ invoice_id: string | null; leased_until: Instant }>(HOLDER, values);
    const [row] = rows;
    if (row === undefined) return undefined;
    return row.invoice_id ?? (isBefore(now, row.leased_until) ? 'in_use' : undefined);
  };
  return {
    holderOf,
    take: async (key, now) => {
      const row = { ...key, bodyHash: UNKNOWN_BODY, commandId: '' };
      await restoreMissingGuards(db, { keys: [row], marks: [] }, now, idempotencySeconds);
      return await holderOf(key, now);
    },
    passOn: async ({ mode, companyId, keyHash }, from, to) => {
      await db.query(PASS_ON, [mode, companyId, keyHash, from, UNKNOWN_BODY, to]);
    },
  };
};

const HOLDER = `select invoice_id, leased_until from idempotency_keys
  where mode = $1 and company_id = $2 and key_hash = $3 and accepted_at > $4`;

const PASS_ON = `update idempotency_keys set invoice_id = $6
  where mode = $1 and company_id = $2 and key_hash = $3 and invoice_id = $4 and body_hash = $5`;
