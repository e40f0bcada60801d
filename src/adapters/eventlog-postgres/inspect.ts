import { createHash } from 'node:crypto';
import type pg from 'pg';
import { fromRecord, toRecord } from '../../domain/log/record.js';
import type { StreamName } from '../../domain/shared/ids.js';
import type { InspectedEvent, LogPosition, RecordedEvent, Revision } from '../../ports/event-log.js';

type StoredRow = {
  position: string;
  stream: StreamName;
  revision: Revision;
  id: string;
  type: string;
  record: string;
  hash: string;
  /** The hash is that of the very text. */
  sound: boolean;
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
    text: `select position, stream, revision, id, type, record, hash,
        hash = encode(sha256(convert_to(record, 'UTF8')), 'hex') as sound from event_log
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
  const fault = faultOf(row, event);
  return { ...place, event, ...(fault === undefined ? {} : { fault }) };
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

const faultOf = (row: StoredRow, event: RecordedEvent): string | undefined => {
  const others = COLUMNS.filter((column) => row[column] !== event[column]);
  if (others.length > 0)
    return `the row's ${others.join(' and ')} ${others.length === 1 ? 'is' : 'are'} not the event's, which readers miss or misplace`;
  return !row.sound && isSoundElsewise(row, event) ? 'the record is spelled in another way' : undefined;
};

/** Any other edit of the text is one of the event, which its hash shows. */
const isSoundElsewise = ({ hash }: StoredRow, event: RecordedEvent): boolean => {
  try {
    return sha256(toRecord(event.stream, event.revision, event).record) === hash;
  } catch {
    return false;
  }
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
