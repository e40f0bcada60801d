import type { Msg } from 'nats';
import { parseInvoiceStream } from '../../domain/common/ids.js';
import type { WorkItem } from '../../ports/work-queue.js';

/** A delivered message; answers go out at once, or with the next connection, and are not confirmed. */
export type WorkMessage = {
  /** Sequence in the stream and time of storing: together the same for each delivery of one message. */
  sequence: number;
  storedAt: string;
  /** Counts from 1. */
  deliveries: number;
  subject: string;
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
    subject: message.subject,
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

/** Event ids, and the sweeper's ids of less than 150 characters. A longer id would not fit into a parked record, nor a line break into a header. */
const MESSAGE_ID = /^[ -~]{1,256}$/;

/**
 * The work item of an invoice on the subject that this work item has, by `subjectOf`. Undefined for every other message, because other programs may
 * write to our subjects: a work item that names another invoice would keep away the work of the invoice whose subject it takes.
 */
export const readItem = (
  payload: string,
  subject: string,
  subjectOf: (item: Pick<WorkItem, 'kind' | 'stream'>) => string,
): WorkItem | undefined => {
  const { kind, stream, messageId, traceparent } = readFields(payload);
  if (kind !== 'issue' && kind !== 'cancel') return undefined;
  if (typeof stream !== 'string' || parseInvoiceStream(stream) === undefined) return undefined;
  if (typeof messageId !== 'string' || !MESSAGE_ID.test(messageId)) return undefined;
  if (subject !== subjectOf({ kind, stream })) return undefined;
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
