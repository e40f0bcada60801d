import type { StreamName } from '../../../src/domain/common/ids.js';
import type { Instant } from '../../../src/domain/common/time.js';
import { addSeconds, isBefore } from '../../../src/domain/common/time.js';
import type { DuplicateMark, DuplicateWindow, Fingerprints } from '../../../src/ports/duplicate-window.js';
import type { Claim, IdempotencyKeys, KeyOwner, KeyState } from '../../../src/ports/idempotency-keys.js';
import type { KeyedGuards } from '../../../src/ports/keyed-guards.js';
import type { LookupProgressStore, PendingCuts, StoredLookupProgress } from '../../../src/ports/work-progress.js';

export type MemoryGuards = {
  idempotency: IdempotencyKeys;
  duplicates: DuplicateWindow;
  lookups: LookupProgressStore;
  cuts: PendingCuts;
  isKnown(owner: KeyOwner): boolean;
  /** The row of the key is lost. */
  forget(owner: KeyOwner): void;
  /** What an acceptance in one transaction leaves beside its event. */
  storeFinished(stream: StreamName, guards: KeyedGuards): void;
  /** Rows of the keys and marks of the duplicate window, for tests that compare whole states; in no particular order. */
  contents(): { keys: readonly (KeyRow & { owner: string })[]; marks: readonly DuplicateMark[] };
};

/** The guards of unit tests: the promises of the durable guards, within one process. */
export const createMemoryGuards = ({ idempotencySeconds = 86_400, leaseSeconds = 15 } = {}): MemoryGuards => {
  const rows = new Map<string, KeyRow>();
  const marks = new Map<string, DuplicateMark>();
  return {
    idempotency: memoryKeys(rows, idempotencySeconds, leaseSeconds),
    duplicates: memoryWindow(marks),
    lookups: memoryLookupProgress(),
    cuts: memoryCuts(),
    isKnown: (owner) => rows.has(keyOf(owner)),
    forget: (owner) => void rows.delete(keyOf(owner)),
    storeFinished: (stream, { owner, bodyHash, claim, invoiceId, fingerprints }) => {
      rows.set(keyOf(owner), { ...claim, bodyHash, leasedUntil: claim.acceptedAt, invoiceId });
      for (const fingerprint of fingerprints.placed) marks.set(fingerprint, { stream, at: claim.acceptedAt });
    },
    contents: () => ({ keys: [...rows].map(([owner, row]) => ({ owner, ...row })), marks: [...marks.values()] }),
  };
};

type KeyRow = Claim & { bodyHash: string; leasedUntil: Instant; invoiceId?: string };

const memoryKeys = (rows: Map<string, KeyRow>, ttlSeconds: number, leaseSeconds: number): IdempotencyKeys => {
  const isLeased = (row: KeyRow, now: Instant): boolean =>
    row.invoiceId === undefined && isBefore(now, row.leasedUntil);
  const isOver = (row: KeyRow, now: Instant): boolean => !isBefore(now, addSeconds(row.acceptedAt, ttlSeconds));

  const stateOf = (row: KeyRow | undefined, sameBody: readonly unknown[], now: Instant): KeyState => {
    if (row === undefined) return { kind: 'free' };
    if (isOver(row, now)) return isLeased(row, now) ? { kind: 'in_use' } : { kind: 'free' };
    if (!sameBody.includes(row.bodyHash)) {
      return {
        kind: 'reuse',
        bodyHash: row.bodyHash,
        ...(row.invoiceId === undefined ? {} : { invoiceId: row.invoiceId }),
      };
    }
    if (row.invoiceId !== undefined) return { kind: 'done', invoiceId: row.invoiceId };
    return isLeased(row, now) ? { kind: 'in_use' } : { kind: 'free' };
  };

  return {
    claim: async (owner, bodyHash, fresh, now, sameBody) => {
      const row = rows.get(keyOf(owner));
      const state = stateOf(row, [bodyHash, sameBody], now);
      if (state.kind !== 'free') return state;
      const resumed = row !== undefined && !isOver(row, now);
      const claim = resumed ? { ...fresh, commandId: row.commandId, acceptedAt: row.acceptedAt } : fresh;
      const hash = resumed ? row.bodyHash : bodyHash;
      rows.set(keyOf(owner), { ...claim, bodyHash: hash, leasedUntil: addSeconds(now, leaseSeconds) });
      return { kind: 'claimed', claim };
    },
    renew: async (owner, { leaseToken, commandId, acceptedAt }) => {
      const row = rows.get(keyOf(owner));
      if (row?.leaseToken !== leaseToken || row.invoiceId !== undefined) return false;
      rows.set(keyOf(owner), { ...row, commandId, acceptedAt });
      return true;
    },
    markDone: async (owner, leaseToken, invoiceId) => {
      const row = rows.get(keyOf(owner));
      if (row?.leaseToken !== leaseToken) return false;
      rows.set(keyOf(owner), { ...row, invoiceId });
      return true;
    },
    release: async (owner, leaseToken, now) => {
      const row = rows.get(keyOf(owner));
      if (row?.leaseToken !== leaseToken || row.invoiceId !== undefined) return;
      const over = addSeconds(now, -ttlSeconds - 3_600);
      rows.set(keyOf(owner), { ...row, acceptedAt: over, leasedUntil: over, leaseToken: '' });
    },
    isFinished: async (owner, now) => {
      const row = rows.get(keyOf(owner));
      return row?.invoiceId !== undefined && !isOver(row, now);
    },
  };
};

const memoryWindow = (marks: Map<string, DuplicateMark>): DuplicateWindow => {
  const place = (
    { placed, legacy }: Fingerprints,
    mark: DuplicateMark,
    youngerThan: Instant | null,
    unless?: DuplicateMark,
  ): DuplicateMark | undefined => {
    const [standing] = [...placed, legacy]
      .flatMap((fingerprint) => marks.get(fingerprint) ?? [])
      .filter(({ at }) => youngerThan !== null && isBefore(youngerThan, at) && !isBefore(addSeconds(mark.at, 300), at))
      .filter(({ stream, at }) => stream !== unless?.stream || at !== unless.at)
      .sort((one, other) => (isBefore(one.at, other.at) ? 1 : -1));
    if (standing === undefined) for (const fingerprint of placed) marks.set(fingerprint, mark);
    return standing;
  };
  return {
    place: async (fingerprints, mark, youngerThan) => place(fingerprints, mark, youngerThan),
    takeOver: async (fingerprints, from, to, youngerThan) => place(fingerprints, to, youngerThan, from) === undefined,
    remove: async ({ placed }, own) => {
      for (const fingerprint of placed) {
        const mark = marks.get(fingerprint);
        if (mark?.stream === own.stream && mark.at === own.at) marks.delete(fingerprint);
      }
    },
  };
};

const memoryLookupProgress = (): LookupProgressStore => {
  const streams = new Map<string, Map<string, StoredLookupProgress>>();
  return {
    get: async (stream, work) => streams.get(stream)?.get(work),
    put: async (stream, work, progress) => {
      streams.set(stream, new Map(streams.get(stream)).set(work, progress));
    },
    forget: async (stream) => {
      streams.delete(stream);
    },
  };
};

const keyOf = ({ mode, companyId, keyHash }: KeyOwner): string => `${mode}/${companyId}/${keyHash}`;

const memoryCuts = (): PendingCuts => {
  const streams = new Set<string>();
  return {
    add: async (stream) => void streams.add(stream),
    done: async (stream) => void streams.delete(stream),
    list: async (limit) => [...streams].sort().slice(0, limit),
  };
};
