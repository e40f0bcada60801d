import type { Msg } from 'nats';
import type { WorkItem } from '../../ports/work-queue.js';

/** A delivered message; answers go out at once, or with the next connection, and are not confirmed. */
export type WorkMessage = {
  /** Sequence in the stream and time of storing: together the same for each delivery of one message. */
  sequence: number;
  storedAt: string;
  /** Counts from 1. */
  deliveries: number;
  payload: string;
  ack(): void;
  /** Asks for another delivery after `ms` or later. */
  retry(ms: number): void;
  /** Asks for a delivery to any worker at once. */
  giveBack(): void;
  /** Restarts the holder's time. */
  working(): void;
  /** Asks for no further delivery. */
  terminate(): void;
};

/** `$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>.…`; later servers put a domain and an account hash first. */
const SHORT_FORM_TOKENS = 9;

/** Undefined for what is not a message of a stream, such as a status of the server. */
export const readMessage = (message: Msg): WorkMessage | undefined => {
  const tokens = (message.reply ?? '').split('.');
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK') return undefined;
  const [deliveries, sequence, , storedAt] = tokens.slice(tokens.length === SHORT_FORM_TOKENS ? 4 : 6);
  if (deliveries === undefined || sequence === undefined || storedAt === undefined) return undefined;
  const answer = (text: string): void => {
    message.respond(text);
  };
  return {
    sequence: Number(sequence),
    storedAt,
    deliveries: Number(deliveries),
    payload: message.string(),
    ack: () => answer('+ACK'),
    retry: (ms) => answer(`-NAK ${JSON.stringify({ delay: Math.max(1, Math.ceil(ms)) * 1_000_000 })}`),
    giveBack: () => answer('-NAK'),
    working: () => answer('+WPI'),
    terminate: () => answer('+TERM'),
  };
};

/** Older programs read the first three fields and no other. */
export const writeItem = ({ kind, stream, messageId, traceparent }: WorkItem): string =>
  JSON.stringify({ kind, stream, messageId, traceparent });

/** Undefined for a text that is not a work item: other programs may write to our subjects. */
export const readItem = (payload: string): WorkItem | undefined => {
  const fields = readFields(payload);
  const { kind, stream, messageId, traceparent } = fields;
  if (kind !== 'issue' && kind !== 'cancel') return undefined;
  if (typeof stream !== 'string' || typeof messageId !== 'string') return undefined;
  return { kind, stream, messageId, ...(typeof traceparent === 'string' ? { traceparent } : {}) };
};

/** The fields of a JSON object; empty for any other text. */
export const readFields = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
  } catch {
    return {};
  }
};
