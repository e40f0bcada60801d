import type pg from 'pg';
import { addSeconds, type Instant, isBefore } from '../../domain/common/time.js';
import { type ImportedKeys, type KeyOwner, UNKNOWN_BODY } from '../../ports/idempotency-keys.js';
import { restoreMissingGuards } from './guards-record.js';

export const importedKeys = (db: pg.Pool, { idempotencySeconds }: { idempotencySeconds: number }): ImportedKeys => {
  const holderOf: ImportedKeys['holderOf'] = async ({ mode, companyId, keyHash }: KeyOwner, now) => {
    const values = [mode, companyId, keyHash, addSeconds(now, -idempotencySeconds), now];
    const { rows } = await db.query<{ invoice_id: string | null; leased_until: Instant }>(HOLDER, values);
    const [row] = rows;
    if (row === undefined) return undefined;
    return row.invoice_id ?? (isBefore(now, row.leased_until) ? 'in_use' : undefined);
  };
  return {
    holderOf,
    take: async (key, now) => {
      const row = { ...key, bodyHash: UNKNOWN_BODY, commandId: '' };
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        await restoreMissingGuards(db, { keys: [row], marks: [] }, now, idempotencySeconds);
        const holder = await holderOf(key, now);
        if (holder !== undefined) return holder;
      }
      return 'in_use';
    },
    passOn: async ({ mode, companyId, keyHash }, from, to) => {
      await db.query(PASS_ON, [mode, companyId, keyHash, from, UNKNOWN_BODY, to]);
    },
  };
};

/** A request that worked on the key may free it between the two statements: then the key has no holder, and was not given. */
const MOST_TRIES = 3;

/** A claim that a process works on is in use, also when the 24 hours since its first try are over. */
const HOLDER = `select invoice_id, leased_until from idempotency_keys
  where mode = $1 and company_id = $2 and key_hash = $3
    and (accepted_at > $4 or (invoice_id is null and leased_until > $5))`;

const PASS_ON = `update idempotency_keys set invoice_id = $6
  where mode = $1 and company_id = $2 and key_hash = $3 and invoice_id = $4 and body_hash = $5`;
