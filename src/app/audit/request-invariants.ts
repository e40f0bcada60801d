import { type InvoiceAddress, type InvoiceId, invoiceStream, type StreamName } from '../../domain/common/ids.js';
import { epochMs, type Instant } from '../../domain/common/time.js';
import type { ReadInvoiceEvent } from '../../domain/invoice/events.js';
import type { Revision } from '../../ports/event-log.js';
import { invoiceIdOfAccessKey, invoiceIdOfReference } from '../event-store/hashes.js';
import { type Finding, findingOf } from './finding.js';

type Judged = ReadInvoiceEvent & { stream: StreamName; revision: Revision };

/**
 * One request, one invoice (docs/architecture.md#uniqueness), as far as events alone show it. The stream of a reference belongs to the invoice that
 * it derives, or to an import that took it. So no reference is held here, and of two invoices with one reference at least one is found.
 * `fromBeginning`: whether the walk holds each stream from its first event on, which reservations of imports need. `keySeconds`: how long an
 * Idempotency-Key is good for one invoice.
 */
export const createRequestInvariants = (fromBeginning: boolean, keySeconds: number) => {
  const reservations = createReservations();
  const keys = createKeyWindow(keySeconds * 1_000);

  return (event: Judged, address: InvoiceAddress): readonly Finding[] => {
    const { mode, companyId, invoiceId } = address;
    const breach = (detail: string): readonly Finding[] => [findingOf(event, 'invariant', detail)];
    switch (event.type) {
      case 'InvoiceAccepted': {
        const { reference, idempotency, acceptedAt } = event.data;
        const derived = reference === undefined ? invoiceId : invoiceIdOfReference(mode, companyId, reference);
        const key = idempotency && `${mode} ${companyId} ${idempotency.keyHash}`;
        const holder = key === undefined ? undefined : keys.take(key, event.stream, acceptedAt);
        const detail = `an Idempotency-Key that ${holder} had, and whose time was not over (a rehearsal may have had a shorter IDEMPOTENCY_TTL_S)`;
        return [
          ...(derived === invoiceId ? [] : breach('its id is not the one that its reference gives')),
          ...(holder === undefined ? [] : [findingOf(event, 'duplicate', detail)]),
        ];
      }
      case 'ReferenceTaken':
        reservations.add(event.stream, address, event.data.invoiceId);
        return [];
      case 'InvoiceImported': {
        const isTaken = reservations.use(event.data, address);
        return isTaken || !fromBeginning ? [] : breach('an import whose reference was not taken for it');
      }
      default:
        return [];
    }
  };
};

type ImportedData = Pick<Extract<ReadInvoiceEvent, { type: 'InvoiceImported' }>['data'], 'reference' | 'accessKey'>;

/**
 * The streams that were taken for imports which have not come yet; an import takes its streams first. Of a test invoice the reservation may have
 * vanished, so only live ones are kept.
 */
const createReservations = () => {
  const taken = new Map<StreamName, InvoiceId>();
  const useOne = (stream: StreamName, invoiceId: InvoiceId): boolean =>
    taken.get(stream) === invoiceId && taken.delete(stream);
  return {
    add: (stream: StreamName, { mode }: InvoiceAddress, invoiceId: InvoiceId): void => {
      if (mode === 'live') taken.set(stream, invoiceId);
    },
    /** Whether the reference of the import was taken for it, or derives its id. Its reservations are forgotten. */
    use: ({ reference, accessKey }: ImportedData, { mode, companyId, invoiceId }: InvoiceAddress): boolean => {
      if (mode !== 'live') return true;
      // Earlier versions did not take the access key.
      if (accessKey !== undefined)
        useOne(invoiceStream(mode, companyId, invoiceIdOfAccessKey(mode, companyId, accessKey)), invoiceId);
      if (reference === undefined) return true;
      const derived = invoiceIdOfReference(mode, companyId, reference);
      return derived === invoiceId || useOne(invoiceStream(mode, companyId, derived), invoiceId);
    },
  };
};

/** A request reads the clock for its acceptance before it asks whether the key has ended. */
const SLACK_MS = 60_000;

type KeyUse = { stream: StreamName; acceptedAtMs: number };

/** The latest use of each Idempotency-Key. Memory holds those of the last one to two windows of the log. */
const createKeyWindow = (windowMs: number) => {
  let begunAtMs = Number.NEGATIVE_INFINITY;
  let current = new Map<string, KeyUse>();
  let before = current;
  return {
    /** Notes a use and returns the stream of the use before, when the window of that one has not ended. */
    take: (key: string, stream: StreamName, acceptedAt: Instant): StreamName | undefined => {
      const acceptedAtMs = epochMs(acceptedAt);
      if (acceptedAtMs >= begunAtMs + windowMs) {
        before = current;
        current = new Map();
        begunAtMs = acceptedAtMs;
      }
      const use = current.get(key) ?? before.get(key);
      current.set(key, { stream, acceptedAtMs });
      const isOver = use === undefined || acceptedAtMs >= use.acceptedAtMs + windowMs - SLACK_MS;
      return isOver || use.stream === stream ? undefined : use.stream;
    },
  };
};
