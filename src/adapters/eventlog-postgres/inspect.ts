import type pg from 'pg';
import { hashTextIfAny } from '../../domain/log/hash-text.js';
import { isPlainHashText } from '../../domain/log/plain-record.js';
import { fromRecord } from '../../domain/log/record.js';
import type { StreamName } from '../../domain/shared/ids.js';
import { sha256 } from '../../hashing/sha256.js';
import type { InspectedEvent, LogPosition, RecordedEvent, Revision } from '../../ports/event-log.js';

type StoredRow = {
  position: string;
  stream: StreamName;
  revision: Revision;
  id: string;
  type: string;
  record: string;
  hash: string;
};

/**
 * Rows behind `after` as they lie in the table. Readers find an event by the columns and take its content from the record, so an edit of
 * either hides or moves an event without touching its hash: here the two are compared.
 */
export const inspectRows = async (
  pool: pg.Pool,
  after: LogPosition,
  limit: number,
): Promise<readonly InspectedEvent[]> => {
  const { rows } = await pool.query<StoredRow>({
    name: 'inspect',
    text: `select position, stream, revision, id, type, record, hash from event_log
      where position > $1 order by position limit $2`,
    values: [after, limit],
  });
  return rows.map(inspected);
};

const inspected = (row: StoredRow): InspectedEvent => {
  const position = BigInt(row.position) as LogPosition;
  const place = { position, stream: row.stream, revision: row.revision };
  const event = readable(row, position);
  if (event === undefined) return { ...place, fault: 'the record cannot be read' };
  // Text that was read and is the hash text need not be made again.
  const text = isPlainHashText(row.record, event) ? row.record : hashTextIfAny(event.stream, event.revision, event);
  const contentHash = text === undefined ? undefined : sha256(text, 'hex');
  // Any other edit of the text is one of the event, which its hash shows.
  const respelled = text !== row.record && contentHash === row.hash ? RESPELLED : undefined;
  const fault = misfiled(row, event) ?? respelled;
  return { ...place, event, contentHash, ...(fault === undefined ? {} : { fault }) };
};

const readable = ({ record, hash }: StoredRow, position: LogPosition): RecordedEvent | undefined => {
  try {
    const event = { ...fromRecord({ record, hash }), position };
    return isWhole(event) ? event : undefined;
  } catch {
    return undefined;
  }
};

/** The text is JSON of some shape: whoever edited it may have left out what every event has. */
const isWhole = ({ stream, revision, id, type, data }: RecordedEvent): boolean =>
  typeof stream === 'string' &&
  Number.isSafeInteger(revision) &&
  typeof id === 'string' &&
  typeof type === 'string' &&
  typeof data === 'object' &&
  data !== null;

const COLUMNS = ['stream', 'revision', 'id', 'type'] as const;

const misfiled = (row: StoredRow, event: RecordedEvent): string | undefined => {
  const others = COLUMNS.filter((column) => row[column] !== event[column]);
  return others.length === 0
    ? undefined
    : `the row's ${others.join(' and ')} ${others.length === 1 ? 'is' : 'are'} not the event's, which readers miss or misplace`;
};

const RESPELLED = 'the record is spelled in another way';
