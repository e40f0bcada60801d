import type pg from 'pg';
import { addSeconds, type Instant, isBefore } from '../../domain/shared/time.js';
import type { Claim, IdempotencyKeys, KeyOwner, KeyState } from '../../ports/idempotency-keys.js';
import { batched } from '../sql/batched.js';

type KeyRow = {
  place: number;
  body_hash: string;
  lease_token: string;
  leased_until: Instant;
  command_id: string;
  accepted_at: Instant;
  invoice_id: string | null;
};

type Asked = { owner: KeyOwner; bodyHash: string; sameBody: string | undefined; fresh: Claim; now: Instant };
type Finished = { owner: KeyOwner; leaseToken: string; invoiceId: string };

export const idempotencyKeys = (
  db: pg.Pool,
  { idempotencyTtlSeconds, leaseSeconds }: { idempotencyTtlSeconds: number; leaseSeconds: number },
): IdempotencyKeys => {
  const stateOf = (row: KeyRow, sameBody: readonly unknown[], now: Instant): KeyState => {
    const leased = row.invoice_id === null && isBefore(now, row.leased_until);
    const over = !isBefore(now, addSeconds(row.accepted_at, idempotencyTtlSeconds));
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
      ...ownerColumns(asked),
      asked.map(({ bodyHash }) => bodyHash),
      asked.map(({ fresh }) => fresh.leaseToken),
      asked.map(({ now }) => addSeconds(now, leaseSeconds)),
      asked.map(({ fresh }) => fresh.commandId),
      asked.map(({ fresh }) => fresh.acceptedAt),
      asked.map(({ now }) => now),
      asked.map(({ now }) => addSeconds(now, -idempotencyTtlSeconds)),
      asked.map(({ bodyHash, sameBody }) => sameBody ?? bodyHash),
    ];
    const { rows } = await db.query<KeyRow>({ name: 'key-claim', text: CLAIM, values });
    return rows.sort((one, other) => one.place - other.place);
  });

  const done = batched<Finished, boolean>(async (finished) => {
    const values = [
      ...ownerColumns(finished),
      finished.map(({ leaseToken }) => leaseToken),
      finished.map(({ invoiceId }) => invoiceId),
    ];
    const { rows } = await db.query<{ held: number[] }>({ name: 'key-done', text: DONE, values });
    const held = new Set(rows[0]?.held);
    return finished.map((_one, index) => held.has(index + 1));
  });

  return {
    claim: async (owner, bodyHash, fresh, now, sameBody) => {
      const row = await claimed({ owner, bodyHash, sameBody, fresh, now });
      if (row.lease_token === fresh.leaseToken) {
        const claim = { leaseToken: row.lease_token, commandId: row.command_id, acceptedAt: row.accepted_at };
        return { kind: 'claimed', claim };
      }
      const state = stateOf(row, [bodyHash, sameBody], now);
      if (state.kind === 'free') throw new Error('a free key was not claimed');
      return state;
    },
    markDone: (owner, leaseToken, invoiceId) => done({ owner, leaseToken, invoiceId }),
    release: async (owner, leaseToken) => {
      await db.query({ name: 'key-release', text: RELEASE, values: [...idOf(owner), leaseToken] });
    },
  };
};

const idOf = ({ mode, companyId, keyHash }: KeyOwner): string[] => [mode, companyId, keyHash];

const ownerColumns = (of: readonly { owner: KeyOwner }[]): string[][] => [
  of.map(({ owner }) => owner.mode),
  of.map(({ owner }) => owner.companyId),
  of.map(({ owner }) => owner.keyHash),
];

/** Returns the row that decided, also when another transaction inserted it meanwhile. The claim is ours if the row has our lease token. */
const CLAIM = `select place, body_hash, lease_token, leased_until, command_id, accepted_at, invoice_id
  from idempotency_claim($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;

const DONE = 'select idempotency_done($1, $2, $3, $4, $5) as held';

const RELEASE = `delete from idempotency_keys
  where mode = $1 and company_id = $2 and key_hash = $3 and lease_token = $4 and invoice_id is null`;
