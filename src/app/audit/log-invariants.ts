import { companyEventTypes } from '../../domain/company/events.js';
import { dpsNumberEventTypes } from '../../domain/dps-number/dps-number.js';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { invoiceEventTypes } from '../../domain/invoice/personal-fields.js';
import { auditEventTypes } from '../../domain/log/audit-events.js';
import { liveOn } from '../../domain/log/invoice-life.js';
import { BORN } from '../../domain/log/life.js';
import { type InvoiceAddress, type Mode, parseInvoiceStream, type StreamName } from '../../domain/shared/ids.js';
import type { DecodedEvent } from '../event-store/codec.js';
import type { Finding } from './finding.js';
import { BLOCKED, LIFE, lifeIn, NEXT_NUMBER, rememberLife } from './stream-numbers.js';
import type { StreamTable } from './stream-table.js';
import { createUniqueKeys } from './unique-keys.js';

export type LogInvariants = {
  /** Judges one sound event of a stream, in the order of the log; `index` is the stream's in the table. */
  take(event: DecodedEvent, index: number): readonly Finding[];
  /** The walk does not have the stream as a whole: its life is not judged any more. */
  giveUp(index: number): void;
};

/**
 * Invariants 1, 2, 4 and 5 of design section 11, as far as the events alone tell. `wholeLog`: also what only a walk over all
 * streams can say, that every number in use was allocated to its invoice.
 */
export const createLogInvariants = (table: StreamTable, wholeLog: boolean): LogInvariants => {
  const unique = createUniqueKeys();

  const duplicate = (event: DecodedEvent, index: number, what: string, key: string): readonly Finding[] => {
    const holder = unique.take(key, index);
    if (holder === undefined || holder === index) return [];
    const detail = `${what} that ${table.nameOf(holder)} has`;
    return [{ kind: 'duplicate', stream: event.stream, revision: event.revision, detail }];
  };
  const breach = ({ stream, revision }: DecodedEvent, detail: string | undefined): readonly Finding[] =>
    detail === undefined ? [] : [{ kind: 'invariant', stream, revision, detail }];

  const invoice = (event: DecodedEvent<InvoiceEvent>, index: number, address: InvoiceAddress): readonly Finding[] => {
    const numbers = table.numbersOf(index);
    const life = lifeIn(numbers);
    const fault = liveOn(life, event) ?? misplaced(event, address) ?? misattributed(event, address);
    if (fault !== undefined) life.born = BORN.unjudged;
    rememberLife(life, numbers);
    return [...breach(event, fault), ...keysOf(event, index, address)];
  };

  const keysOf = (
    event: DecodedEvent<InvoiceEvent>,
    index: number,
    { mode, companyId, invoiceId }: InvoiceAddress,
  ): readonly Finding[] => {
    switch (event.type) {
      case 'IssuanceAttempted': {
        const { series, number, dpsId } = event.data;
        const owner = `${mode} ${companyId} ${series} ${number}`;
        const allocatedTo = wholeLog ? unique.holderOf(`allocated ${owner} ${invoiceId}`) : 0;
        return [
          ...duplicate(event, index, 'a DPS number', `number ${owner}`),
          ...duplicate(event, index, 'a DPS id', `dps ${mode} ${dpsId}`),
          ...breach(
            event,
            allocatedTo === undefined ? 'a DPS number that was not allocated to this invoice' : undefined,
          ),
        ];
      }
      case 'Authorized':
        return duplicate(event, index, 'an access key', `key ${mode} ${event.data.accessKey}`);
      case 'IndeterminateResolved':
        return event.data.as === 'issued'
          ? duplicate(event, index, 'an access key', `key ${mode} ${event.data.accessKey}`)
          : [];
      case 'InvoiceImported':
        return event.data.accessKey === undefined
          ? []
          : duplicate(event, index, 'an access key', `key ${mode} ${event.data.accessKey}`);
      default:
        return [];
    }
  };

  const dpsNumber = (event: DecodedEvent, index: number): readonly Finding[] => {
    const numbers = table.numbersOf(index);
    const [next = 0, blocked = 0] = [numbers[NEXT_NUMBER], numbers[BLOCKED]];
    switch (event.type) {
      case 'DpsNumberAllocated': {
        const { number, nextNumber, invoiceId } = event.data;
        numbers[NEXT_NUMBER] = nextNumber;
        const owner = /^dps(Live|Test)-([0-9A-Z]{14})_(.+)$/.exec(event.stream);
        if (owner === null) return breach(event, 'a DPS number of a stream that names no series');
        unique.take(`allocated ${owner[1]?.toLowerCase()} ${owner[2]} ${owner[3]} ${number} ${invoiceId}`, index);
        if (blocked === 1) return breach(event, 'a number of a series that was stopped');
        if (nextNumber !== number + 1) return breach(event, 'the next number does not follow the one given');
        return breach(
          event,
          next > 0 && number !== next ? `number ${number} was given where ${next} was next` : undefined,
        );
      }
      case 'DpsNumberMoved':
        numbers[NEXT_NUMBER] = event.data.nextNumber;
        numbers[BLOCKED] = 0;
        return breach(event, event.data.nextNumber < next ? 'the next number moved backwards' : undefined);
      case 'DpsSeriesBlocked':
        numbers[NEXT_NUMBER] = event.data.nextNumber;
        numbers[BLOCKED] = 1;
        return breach(event, event.data.nextNumber < next ? 'the next number moved backwards' : undefined);
      default:
        return [];
    }
  };

  const company = (event: DecodedEvent, index: number): readonly Finding[] => {
    const begins = event.type === 'CompanyRegistered';
    if (begins !== (event.revision === 0)) return breach(event, 'a company is registered once, by its first event');
    if (event.type !== 'ApiKeyCreated') return [];
    return [
      ...duplicate(event, index, 'an API key', `hash ${event.data.keyHash}`),
      ...duplicate(event, index, 'the id of an API key', `keyId ${event.data.keyId}`),
    ];
  };

  return {
    take: (event, index) => {
      const address = parseInvoiceStream(event.stream);
      const fault = foreignType(event);
      if (fault !== undefined) return breach(event, fault);
      if (address !== undefined) return invoice(event as DecodedEvent<InvoiceEvent>, index, address);
      if (event.stream.startsWith('dps')) return dpsNumber(event, index);
      if (event.stream.startsWith('company-')) return company(event, index);
      return event.type === 'LogAnchored' && event.stream !== `anchor-${event.data.day}`
        ? breach(event, 'an anchor of another day')
        : [];
    },
    giveUp: (index) => {
      const ofSeries = table.nameOf(index).startsWith('dps');
      table.numbersOf(index)[ofSeries ? NEXT_NUMBER : LIFE] = ofSeries ? 0 : BORN.unjudged;
    },
  };
};

/** Which event types each kind of stream holds; other kinds hold one type each. */
const typesOfStreams: readonly (readonly [RegExp, ReadonlySet<string>])[] = [
  [/^nfse(?:Live|Test)-[0-9A-Z]{14}_[0-9a-f-]{36}$/, new Set<string>(invoiceEventTypes)],
  [/^dps(?:Live|Test)-/, new Set<string>(dpsNumberEventTypes)],
  [/^company-/, new Set<string>(companyEventTypes)],
  [/^system-api$/, new Set(['ApiSwitchedOff', 'ApiSwitchedOn'])],
  [/^catalog-/, new Set(['CatalogLinesReplaced'])],
  [/^municipality-/, new Set(['MunicipalityDemandsSet'])],
  [/^registry-/, new Set(['RegistryEntryPut'])],
  [/^(?:anchor|audit)-/, new Set<string>(auditEventTypes)],
];

const foreignType = ({ stream, type }: { stream: StreamName; type: string }): string | undefined => {
  const types = typesOfStreams.find(([pattern]) => pattern.test(stream))?.[1];
  return types?.has(type) === true ? undefined : `${type} does not belong to such a stream`;
};

/** The name of the stream is what keeps companies and modes apart: the event must say the same (design section 4). */
const misplaced = (event: InvoiceEvent, address: InvoiceAddress): string | undefined => {
  if (event.type !== 'InvoiceAccepted' && event.type !== 'InvoiceImported') {
    return event.type === 'TestInvoiceDeleted' && address.mode !== 'test' ? 'a live invoice was ended' : undefined;
  }
  const { mode, companyId, invoiceId } = event.data;
  const same = sameOwner({ mode, companyId, invoiceId }, address);
  return same ? undefined : 'mode, company or id differ from the name of the stream';
};

/** Of events of before mode and company were recorded nothing can be said. */
const misattributed = ({ metadata }: DecodedEvent, { mode, companyId }: InvoiceAddress): string | undefined =>
  (metadata.mode ?? mode) === mode && (metadata.companyId ?? companyId) === companyId
    ? undefined
    : 'mode or company of its metadata differ from the name of the stream';

const sameOwner = (
  a: { mode: Mode; companyId: string; invoiceId: string },
  b: { mode: Mode; companyId: string; invoiceId: string },
): boolean => a.mode === b.mode && a.companyId === b.companyId && a.invoiceId === b.invoiceId;
