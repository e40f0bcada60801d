import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { present } from '../../domain/common/present.js';
import { addSeconds, type Instant, isBefore } from '../../domain/common/time.js';
import {
  type Claim,
  type IdempotencyKeys,
  type ImportedKey,
  type ImportedKeys,
  type KeyOwner,
  type KeyState,
  UNKNOWN_BODY,
} from '../../ports/idempotency-keys.js';
import { columnsOf } from '../sql/arrays.js';
import { batched } from '../sql/batched.js';
import { restoreMissingGuards } from './guards-record.js';
import { type LogApart, unlessPaused } from './unless-paused.js';

type KeyRow = {
  place: number;
  body_hash: string;
  lease_token: string;
  leased_until: Instant;
  command_id: string;
  accepted_at: Instant;
  invoice_id: string | null;
};

/** `keptSince`: a key that was accepted earlier is over. */
type Asked = KeyOwner &
  Claim & { bodyHash: string; sameBody: string; leasedUntil: Instant; now: Instant; keptSince: Instant };
type Finished = KeyOwner & { leaseToken: string; invoiceId: string };

/** A row stays for this long after its key was released; longer than a request takes. */
export const FREED_KEPT_SECONDS = 60;

/** A released key was over this long ago, so that it is free also for a process whose clock is behind, or was set back, by less. */
export const FREED_OVER_SECONDS = 3_600;

export const idempotencyKeys = (
  db: pg.Pool,
  { idempotencySeconds, leaseSeconds, logApart }: { idempotencySeconds: number; leaseSeconds: number } & LogApart,
): IdempotencyKeys => {
  const stateOf = (row: KeyRow, sameBody: readonly unknown[], now: Instant): KeyState => {
    const leased = row.invoice_id === null && isBefore(now, row.leased_until);
    const over = !isBefore(now, addSeconds(row.accepted_at, idempotencySeconds));
    if (over) return leased ? { kind: 'in_use' } : { kind: 'free' };
    if (!sameBody.includes(row.body_hash)) {
      const invoice = row.invoice_id === null ? {} : { invoiceId: row.invoice_id };
      return { kind: 'reuse', bodyHash: row.body_hash, ...invoice };
    }
    if (row.invoice_id !== null) return { kind: 'done', invoiceId: row.invoice_id };
    return leased ? { kind: 'in_use' } : { kind: 'free' };
  };

  const claimed = batched<Asked, KeyRow>(async (asked) => {
    const values = [
      ...columnsOf(asked, ['mode', 'companyId', 'keyHash', 'bodyHash', 'leaseToken', 'leasedUntil', 'commandId']),
      ...columnsOf(asked, ['acceptedAt', 'now', 'keptSince', 'sameBody']),
    ];
    const rows = await unlessPaused<KeyRow>(db, { name: 'key-claim', text: CLAIM, values }, logApart);
    return rows.sort((one, other) => one.place - other.place);
  });

  const done = batched<Finished, boolean>(async (finished) => {
    const values = [...columnsOf(finished, ['mode', 'companyId', 'keyHash', 'leaseToken', 'invoiceId'])];
    const { rows } = await db.query<{ held: number[] }>({ name: 'key-done', text: DONE, values });
    const held = new Set(rows[0]?.held);
    return finished.map((_one, index) => held.has(index + 1));
  });

  return {
    claim: async (owner, bodyHash, fresh, now, sameBody) => {
      const leasedUntil = addSeconds(now, leaseSeconds);
      const keptSince = addSeconds(now, -idempotencySeconds);
      const hashes = { bodyHash, sameBody: sameBody ?? bodyHash };
      const row = await claimed({ ...owner, ...fresh, ...hashes, leasedUntil, now, keptSince });
      if (row.lease_token === fresh.leaseToken) {
        const claim = { leaseToken: row.lease_token, commandId: row.command_id, acceptedAt: row.accepted_at };
        return { kind: 'claimed', claim };
      }
      const state = stateOf(row, [bodyHash, sameBody], now);
      if (state.kind === 'free') throw new Error('a free key was not claimed');
      return state;
    },
    renew: async ({ mode, companyId, keyHash }, { leaseToken, commandId, acceptedAt }) => {
      const values = [mode, companyId, keyHash, leaseToken, commandId, acceptedAt];
      return (await db.query({ name: 'key-renew', text: RENEW, values })).rowCount === 1;
    },
    markDone: (owner, leaseToken, invoiceId) => done({ ...owner, leaseToken, invoiceId }),
    release: async ({ mode, companyId, keyHash }, leaseToken, now) => {
      const over = addSeconds(now, -idempotencySeconds - FREED_OVER_SECONDS);
      const values = [mode, companyId, keyHash, leaseToken, over];
      await db.query({ name: 'key-release', text: RELEASE, values });
    },
    isFinished: async ({ mode, companyId, keyHash }, now) => {
      const keptSince = addSeconds(now, -idempotencySeconds);
      const values = [mode, companyId, keyHash, keptSince];
      return (await db.query({ name: 'key-finished', text: FINISHED, values })).rowCount === 1;
    },
  };
};

/** Returns the row that decided, also when another transaction inserted it meanwhile. The claim is ours if the row has our lease token. */
const CLAIM = `select place, body_hash, lease_token, leased_until, command_id, accepted_at, invoice_id
  from idempotency_claim($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;

const DONE = 'select idempotency_done($1, $2, $3, $4, $5) as held';

const RENEW = `update idempotency_keys set command_id = $5, accepted_at = $6
  where mode = $1 and company_id = $2 and key_hash = $3 and lease_token = $4 and invoice_id is null`;

const RELEASE = `update idempotency_keys set accepted_at = $5, leased_until = $5, lease_token = ''
  where mode = $1 and company_id = $2 and key_hash = $3 and lease_token = $4 and invoice_id is null`;

const FINISHED = `select from idempotency_keys
  where mode = $1 and company_id = $2 and key_hash = $3 and accepted_at > $4 and invoice_id is not null`;

/** The keys that an import gives to its invoices. */
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
