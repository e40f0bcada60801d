import { contentOf, hashTextOfRecord, parseRecord } from '../../domain/log/record.js';
import type { RecordedEvent, StoredEvent } from '../../ports/event-log.js';
import { sha256Hex } from '../event-store/hashes.js';
import { type ExaminedEvent, examineEvent } from './examine.js';

/** `event`: what a reader gets; undefined when readers cannot read it. `fault`: what is wrong with its stored form. */
export type Examination = { event: ExaminedEvent | undefined; fault: string | undefined };

/**
 * Examines one row of the log's table. Readers find an event by the columns and take its content from the record, so an edit of either can hide or
 * move an event without touching its hash. This compares the two.
 */
export const examineStored = (stored: StoredEvent): Examination => {
  const read = readable(stored);
  if (read === undefined) return { event: undefined, fault: 'the record cannot be read' };
  const { event, text } = read;
  const contentHash = text === undefined ? undefined : sha256Hex(text);
  // Any other edit of the text changes the event, which its hash shows.
  const respelled = text !== stored.record && contentHash === stored.hash ? RESPELLED : undefined;
  return { event: examineEvent(event, contentHash), fault: misfiled(stored, event) ?? respelled };
};

const readable = ({
  record,
  hash,
  position,
}: StoredEvent): { event: RecordedEvent; text: string | undefined } | undefined => {
  try {
    const parsed = parseRecord(record);
    const content = contentOf(parsed, hash);
    const { stream, revision, id, type, data, metadata } = content;
    const event = { position, stream, revision, id, type, data, metadata };
    return isWhole(event) ? { event, text: hashTextOfRecord(record, parsed, content) } : undefined;
  } catch {
    return undefined;
  }
};

/** An edited record may be JSON that lacks what every event has. */
const isWhole = ({ stream, revision, id, type, data }: RecordedEvent): boolean =>
  typeof stream === 'string' &&
  Number.isSafeInteger(revision) &&
  typeof id === 'string' &&
  typeof type === 'string' &&
  typeof data === 'object' &&
  data !== null;

const COLUMNS = ['stream', 'revision', 'id', 'type'] as const;

const misfiled = (stored: StoredEvent, event: RecordedEvent): string | undefined => {
  const others = COLUMNS.filter((column) => stored[column] !== event[column]);
  return others.length === 0
    ? undefined
    : `the row's ${others.join(' and ')} ${others.length === 1 ? 'is' : 'are'} not the event's, which readers miss or misplace`;
};

const RESPELLED = 'the record is spelled in another way';
