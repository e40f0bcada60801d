import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { present } from '../../domain/common/present.js';
import { addSeconds, type Instant, isBefore } from '../../domain/common/time.js';
import { type ImportedKey, type ImportedKeys, type KeyOwner, UNKNOWN_BODY } from '../../ports/idempotency-keys.js';
import { restoreMissingGuards } from './guards-record.js';

export const importedKeys = (db: pg.Pool, { idempotencySeconds }: { idempotencySeconds: number }): ImportedKeys => {
  const holderOf: ImportedKeys['holderOf'] = async ({ mode, companyId, keyHash }: KeyOwner, now) => {
    const values = [mode, companyId, keyHash, addSeconds(now, -idempotencySeconds), now];
    const { rows } = await db.query<{ invoice_id: string | null; leased_until: Instant }>(HOLDER, values);
    const [row] = rows;
    if (row === undefined) return undefined;
    return row.invoice_id ?? (isBefore(now, row.leased_until) ? 'in_use' : undefined);
  };
  const takeOnce = async (key: ImportedKey, now: Instant) => {
    const row = { ...key, bodyHash: UNKNOWN_BODY, commandId: '' };
    const token = randomUUID();
    const written = await restoreMissingGuards(db, { keys: [row], marks: [] }, now, idempotencySeconds, token);
    const { mode, companyId, keyHash, invoiceId } = key;
    if (written === 0) await db.query(SHARE, [mode, companyId, keyHash, invoiceId, UNKNOWN_BODY, token]);
    return { holder: await holderOf(key, now), token: written === 0 ? undefined : token };
  };
  return {
    holderOf,
    take: async (key, now) => {
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const { holder, token } = await takeOnce(key, now);
        if (holder !== undefined) return present({ holder, token });
      }
      return { holder: 'in_use' };
    },
    free: async ({ mode, companyId, keyHash }, token) => {
      await db.query(FREE, [mode, companyId, keyHash, token, UNKNOWN_BODY]);
    },
  };
};

/** A request, or another import, may free the key between the statement that gives the key and the one that reads its holder. */
const MOST_TRIES = 3;

/** A claim that a process works on is in use, also when the 24 hours since its first try are over. */
const HOLDER = `select invoice_id, leased_until from idempotency_keys
  where mode = $1 and company_id = $2 and key_hash = $3
    and (accepted_at > $4 or (invoice_id is null and leased_until > $5))`;

/** Another import gave the key to the same invoice before this one: the row is of both now, so that import does not free the key. */
const SHARE = `update idempotency_keys set lease_token = $6
  where mode = $1 and company_id = $2 and key_hash = $3 and invoice_id = $4 and body_hash = $5`;

const FREE = `delete from idempotency_keys
  where mode = $1 and company_id = $2 and key_hash = $3 and lease_token = $4 and body_hash = $5`;
