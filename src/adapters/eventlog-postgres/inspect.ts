import type pg from 'pg';
import type { StreamName } from '../../domain/common/ids.js';
import { hashTextIfAny } from '../../domain/log/hash-text.js';
import { fromRecord } from '../../domain/log/record.js';
import { sha256 } from '../../lib/sha256.js';
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
 * Rows behind `after` as the table holds them. Readers find an event by the columns and take its content from the record, so an edit of either can
 * hide or move an event without touching its hash. This compares the two.
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
  const text = hashTextIfAny(event.stream, event.revision, event);
  const contentHash = text === undefined ? undefined : sha256(text, 'hex');
  // Any other edit of the text changes the event, which its hash shows.
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

/** An edited record may be JSON that lacks what every event has. */
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
