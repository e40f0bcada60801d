import type { Instant } from '../../domain/shared/time.js';
import { addSeconds, isBefore } from '../../domain/shared/time.js';
import type {
  Claim,
  DuplicateWindow,
  FingerprintMark,
  IdempotencyKeys,
  KeyOwner,
  KeyState,
  LookupMemo,
  LookupMemos,
  PendingCuts,
} from '../../ports/guards.js';

export type MemoryGuards = {
  idempotency: IdempotencyKeys;
  duplicates: DuplicateWindow;
  lookups: LookupMemos;
  cuts: PendingCuts;
  /** Rows of the keys and marks of the window, for tests that compare whole states; in no particular order. */
  contents(): { keys: readonly (KeyRow & { owner: string })[]; marks: readonly FingerprintMark[] };
};

/** The guards of unit tests: the same promises as the durable ones, for one process. */
export const createMemoryGuards = ({ idempotencyTtlSeconds = 86_400, leaseSeconds = 15 } = {}): MemoryGuards => {
  const rows = new Map<string, KeyRow>();
  const marks = new Map<string, FingerprintMark>();
  return {
    idempotency: memoryKeys(rows, idempotencyTtlSeconds, leaseSeconds),
    duplicates: memoryWindow(marks),
    lookups: memoryMemos(),
    cuts: memoryCuts(),
    contents: () => ({ keys: [...rows].map(([owner, row]) => ({ owner, ...row })), marks: [...marks.values()] }),
  };
};

export type KeyRow = Claim & { bodyHash: string; leasedUntil: Instant; invoiceId?: string };

const memoryKeys = (rows: Map<string, KeyRow>, ttlSeconds: number, leaseSeconds: number): IdempotencyKeys => {
  const isLeased = (row: KeyRow, now: Instant): boolean =>
    row.invoiceId === undefined && isBefore(now, row.leasedUntil);
  const isOver = (row: KeyRow, now: Instant): boolean => !isBefore(now, addSeconds(row.acceptedAt, ttlSeconds));

  const stateOf = (row: KeyRow | undefined, bodyHash: string, now: Instant): KeyState => {
    if (row === undefined) return { kind: 'free' };
    if (isOver(row, now)) return isLeased(row, now) ? { kind: 'in_use' } : { kind: 'free' };
    if (row.bodyHash !== bodyHash) return { kind: 'reuse' };
    if (row.invoiceId !== undefined) return { kind: 'done', invoiceId: row.invoiceId };
    return isLeased(row, now) ? { kind: 'in_use' } : { kind: 'free' };
  };

  return {
    claim: async (owner, bodyHash, fresh, now) => {
      const row = rows.get(keyOf(owner));
      const state = stateOf(row, bodyHash, now);
      if (state.kind !== 'free') return state;
      const resumed = row !== undefined && !isOver(row, now);
      const claim = resumed ? { ...fresh, commandId: row.commandId, acceptedAt: row.acceptedAt } : fresh;
      rows.set(keyOf(owner), { ...claim, bodyHash, leasedUntil: addSeconds(now, leaseSeconds) });
      return { kind: 'claimed', claim };
    },
    markDone: async (owner, leaseToken, invoiceId) => {
      const row = rows.get(keyOf(owner));
      if (row?.leaseToken !== leaseToken) return false;
      rows.set(keyOf(owner), { ...row, invoiceId });
      return true;
    },
    release: async (owner, leaseToken) => {
      const row = rows.get(keyOf(owner));
      if (row?.leaseToken === leaseToken && row.invoiceId === undefined) rows.delete(keyOf(owner));
    },
  };
};

const memoryWindow = (marks: Map<string, FingerprintMark>): DuplicateWindow => {
  return {
    place: async (fingerprint, mark, youngerThan) => {
      const standing = marks.get(fingerprint);
      if (standing !== undefined && youngerThan !== null && isBefore(youngerThan, standing.at)) return standing;
      marks.set(fingerprint, mark);
      return undefined;
    },
    takeOver: async (fingerprint, from, to) => {
      const standing = marks.get(fingerprint);
      if (standing?.stream !== from.stream || standing.at !== from.at) return false;
      marks.set(fingerprint, to);
      return true;
    },
    remove: async (fingerprint, stream) => {
      if (marks.get(fingerprint)?.stream === stream) marks.delete(fingerprint);
    },
  };
};

const memoryMemos = (): LookupMemos => {
  const streams = new Map<string, Map<string, LookupMemo>>();
  return {
    get: async (stream, work) => streams.get(stream)?.get(work),
    put: async (stream, work, memo) => {
      streams.set(stream, new Map(streams.get(stream)).set(work, memo));
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
