import type { IssueRequest } from '../../src/domain/company/eligibility.js';
import type { RecordedEvent } from '../../src/ports/event-log.js';
import type { AppendFate, Ports, Shared } from './accepting-ports.js';

/** A client that wants one invoice; without an answer it repeats the request at any api process. */
export type Client = { name: string; key?: string; request: Partial<IssueRequest>; tries: number };

/** What may still go wrong; bounds the exploration. `passes`: seconds that go by, in this order. */
export type Budget = {
  crashes: number;
  lostAnswers: number;
  uncertain: number;
  away: number;
  /** The company stops being able to issue. */
  spoiled: number;
  guardsLost: number;
  passes: readonly number[];
};

export const none: Budget = {
  crashes: 0,
  lostAnswers: 0,
  uncertain: 0,
  away: 0,
  spoiled: 0,
  guardsLost: 0,
  passes: [],
};

export type Story = {
  clients: readonly Client[];
  /** Moves that every run begins with. */
  begin?: readonly string[];
  budget: Budget;
  /** The engines, or what a sabotage makes of them. */
  broken?(ports: Ports, shared: Shared): Ports;
  /** Log and guards are in one database: a keyed request is accepted in one transaction (ADR 42). */
  isOneDatabase?: boolean;
  /** The guards are filled from the log before an api serves again. */
  isRebuilt?: boolean;
  /** A client asks only when the one before it has its answer. */
  oneAfterTheOther?: boolean;
  /**
   * Time also passes while a process is in the middle of a request, as when it is frozen. Without it a request is either
   * over or dead when time passes.
   */
  freezes?: boolean;
  /** Every second try of a client hashes under another key, as after midnight or a rotation; the keys overlap for the window. */
  keysChange?: boolean;
};

export type Answer =
  | { accepted: { invoiceId: string; amountInCents: number } }
  | { refused: string }
  | { failed: true };

/** One request at one api process. */
export type Try = {
  client: Client;
  nth: number;
  /** Calls that wait for their turn. */
  waiting: { call: string; go(fate: AppendFate): void }[];
  /** The answers so far; the memory of the process is a function of them. */
  heard: string[];
  /** No other try was under way meanwhile. */
  isAlone: boolean;
  leaseToken?: string;
  answer?: Answer;
  end?: 'heard' | 'lost' | 'dead';
};

export type Acceptance = {
  stream: string;
  commandId: string;
  invoiceId: string;
  amountInCents: number;
  acceptedAt: string;
  fingerprint: string;
  /** Names the key that hashed it. */
  tag: string;
  keyHash: string | undefined;
  bodyHash: string | undefined;
};

export const acceptanceOf = ({ stream, data, metadata }: RecordedEvent): Acceptance => {
  const { idempotency } = data as { idempotency?: { keyHash: string; bodyHash: string } };
  return {
    stream,
    commandId: metadata.commandId ?? '',
    invoiceId: String(data.invoiceId),
    amountInCents: Number(data.amountInCents),
    acceptedAt: String(data.acceptedAt),
    fingerprint: String(data.fingerprint),
    tag: String(data.fingerprint).split(':')[2] ?? '',
    keyHash: idempotency?.keyHash,
    bodyHash: idempotency?.bodyHash,
  };
};

/** Random ids are replaced by their order, so that states that differ only in ids count as one. */
export const withoutChance = (text: string): string => {
  const places = new Map<string, number>();
  return text.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
    const place = places.get(id) ?? places.size;
    places.set(id, place);
    return `id${place}`;
  });
};

/** An answer of an engine as text that is equal in each replay of a story: without hashes and sealed text. */
export const inWords = (answer: unknown): string => {
  if (answer instanceof Error) return answer.name;
  if (!Array.isArray(answer)) return JSON.stringify(answer) ?? 'nothing';
  return JSON.stringify((answer as RecordedEvent[]).map((event) => acceptanceOf(event)));
};
