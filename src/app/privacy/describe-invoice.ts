import { parseInvoiceStream, publicInvoiceId, type StreamName } from '../../domain/shared/ids.js';
import { addSeconds, type Instant } from '../../domain/shared/time.js';
import type { EventLog, RecordedEvent } from '../../ports/event-log.js';
import type { ReadModel } from '../../ports/read-model.js';
import { isSealed, sealedWith } from '../event-store/sealing.js';
import { keyGoneAt, sealingDayOf } from '../retention/test-keys.js';
import type { FoundStream } from './find-invoices.js';

/** Where one invoice stands, and until when; names of fields and never what is in them. */
export type InvoicePlaces = {
  id: string;
  company: string;
  mode: 'live' | 'test';
  stream: StreamName;
  foundIn: FoundStream['foundIn'];
  /** Those with something sealed in them. Empty for a test invoice that has ended. */
  events: readonly { revision: number; type: string; at: Instant; sealed: readonly string[] }[];
  /** A row of the read model carries customer and description, sealed as in the log. */
  inReadModel: boolean;
  /** `ends`: gone from reads, rows and events; `unreadable`: from when on no copy of it opens. Absent for live ones. */
  test?: { ends: Instant; unreadable: Instant };
};

export type DescribeDeps = {
  log: Pick<EventLog, 'read'>;
  readModel: Pick<ReadModel, 'invoice'>;
  testRetentionSeconds: number;
};

export const describeInvoice = async (
  { stream, foundIn }: FoundStream,
  { log, readModel, testRetentionSeconds }: DescribeDeps,
): Promise<InvoicePlaces> => {
  const address = parseInvoiceStream(stream);
  if (address === undefined) throw new Error('an invoice was found in a stream that is none');
  const recorded = await log.read(stream);
  const row = await readModel.invoice(stream);
  const { mode, companyId } = address;
  const born = recorded[0];
  return {
    ...{ id: publicInvoiceId(address.invoiceId), company: companyId, mode, stream, foundIn },
    events: recorded.map(sealedOf).filter(({ sealed }) => sealed.length > 0),
    inReadModel: row?.state.kind === 'invoice',
    ...(mode === 'live' || born === undefined
      ? {}
      : { test: { ends: addSeconds(bornAt(born), testRetentionSeconds), unreadable: unreadableAt(recorded) } }),
  };
};

const sealedOf = ({ revision, type, data, metadata }: RecordedEvent): InvoicePlaces['events'][number] => ({
  ...{ revision, type, at: metadata.recordedAt ?? '' },
  sealed: Object.keys(data).filter((field) => isSealed(data[field])),
});

/** An import may be older than the day on which it was recorded. */
const bornAt = ({ data, metadata }: RecordedEvent): Instant =>
  [data.acceptedAt, data.createdAt, metadata.recordedAt].find((at) => typeof at === 'string') ?? '';

/** When the last of the keys that sealed something of it goes; an ended one was sealed a life ago at most. */
const unreadableAt = (recorded: readonly RecordedEvent[]): Instant => {
  const days = recorded.flatMap(({ data, metadata }) => [
    (metadata.recordedAt ?? '').slice(0, 10),
    ...Object.values(data).flatMap((value) =>
      isSealed(value) ? (sealingDayOf(sealedWith(value)?.generation ?? '') ?? []) : [],
    ),
  ]);
  return keyGoneAt(days.sort().at(-1) ?? '');
};
