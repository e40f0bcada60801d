import type { Claim, DuplicateWindow, FingerprintMark, IdempotencyKeys, KeyOwner } from '../../src/ports/guards.js';

type Entry = { bodyHash: string; claim: Claim; invoiceId?: string };

const LEASE_MS = 30_000;
const KEY_MS = 86_400_000;

/** Enough of both guards for tests in one process. */
export const fakeGuards = (): { idempotency: IdempotencyKeys; duplicates: DuplicateWindow } => {
  const keys = new Map<string, Entry>();
  const marks = new Map<string, FingerprintMark>();
  const nameOf = ({ mode, companyId, keyHash }: KeyOwner): string => `${mode}/${companyId}/${keyHash}`;
  const ageOf = (entry: Entry, now: string): number => Date.parse(now) - Date.parse(entry.claim.acceptedAt);

  const peek: IdempotencyKeys['peek'] = async (owner, bodyHash, now) => {
    const entry = keys.get(nameOf(owner));
    if (entry === undefined || ageOf(entry, now) >= KEY_MS) return { kind: 'free' };
    if (entry.bodyHash !== bodyHash) return { kind: 'reuse' };
    if (entry.invoiceId !== undefined) return { kind: 'done', invoiceId: entry.invoiceId };
    return ageOf(entry, now) < LEASE_MS ? { kind: 'in_use' } : { kind: 'free' };
  };
  const holds = (owner: KeyOwner, leaseToken: string): Entry | undefined => {
    const entry = keys.get(nameOf(owner));
    return entry?.claim.leaseToken === leaseToken ? entry : undefined;
  };

  return {
    idempotency: {
      peek,
      claim: async (owner, bodyHash, fresh, now) => {
        const known = await peek(owner, bodyHash, now);
        if (known.kind !== 'free') return known;
        keys.set(nameOf(owner), { bodyHash, claim: fresh });
        return { kind: 'claimed', claim: fresh };
      },
      markDone: async (owner, leaseToken, invoiceId) => {
        const entry = holds(owner, leaseToken);
        if (entry !== undefined) entry.invoiceId = invoiceId;
        return entry !== undefined;
      },
      release: async (owner, leaseToken) => {
        if (holds(owner, leaseToken) !== undefined) keys.delete(nameOf(owner));
      },
    },
    duplicates: {
      place: async (fingerprint, mark, youngerThan) => {
        const standing = marks.get(fingerprint);
        if (youngerThan !== null && standing !== undefined && standing.at > youngerThan) return standing;
        marks.set(fingerprint, mark);
        return undefined;
      },
      takeOver: async (fingerprint, from, to) => {
        if (marks.get(fingerprint)?.stream !== from.stream) return false;
        marks.set(fingerprint, to);
        return true;
      },
      remove: async (fingerprint, stream) => {
        if (marks.get(fingerprint)?.stream === stream) marks.delete(fingerprint);
      },
    },
  };
};
