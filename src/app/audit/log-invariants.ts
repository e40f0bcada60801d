import { auditEventTypes } from '../../domain/audit/events.js';
import { isDpsIdOf } from '../../domain/common/access-key.js';
import {
  companyPrefix,
  companyStream,
  type InvoiceAddress,
  invoiceStream,
  parseDpsStream,
  parseInvoiceStream,
  type StreamName,
} from '../../domain/common/ids.js';
import { companyEventTypes } from '../../domain/company/events.js';
import { dpsNumberEventTypes } from '../../domain/dps-number/events.js';
import {
  type InvoiceEvent,
  invoiceEventTypes,
  noteGivenBy,
  type ReadInvoiceEvent,
} from '../../domain/invoice/events.js';
import { foldInvoice, type InvoiceFold, noEvents, notJudged } from '../../domain/log/invoice-fold.js';
import type { DomainEvent, ReadEvent } from '../event-store/event-types.js';
import type { ExaminedEvent } from './examine.js';
import { type Finding, findingOf } from './finding.js';
import { createRequestInvariants } from './request-invariants.js';

/** An event in its right shape, in the newest version, without its personal fields. */
export type JudgedEvent<E extends DomainEvent = DomainEvent> = ReadEvent<E> &
  Pick<ExaminedEvent, 'stream' | 'revision' | 'metadata'>;

/** What the events of a stream so far demand of its next event. */
export type StreamFold = { readonly stream: StreamName; invoice: InvoiceFold; series: SeriesFold };

/** `nextNumber` is undefined until an event of the series was judged. */
type SeriesFold = { nextNumber?: number; isStopped: boolean };

export const emptyFold = (stream: StreamName): StreamFold => ({ stream, invoice: noEvents, series: newSeries });

const newSeries: SeriesFold = { isStopped: false };

/** Stops judging the stream by its earlier events, because the walk does not have all of them. */
export const giveUp = (fold: StreamFold): void => {
  fold.invoice = notJudged;
  fold.series = { isStopped: fold.series.isStopped };
};

/** The streams that the walk has met. `fromBeginning`: the walk has each of them from its first event on. */
type WalkedStreams = { has(stream: StreamName): boolean; fromBeginning: boolean };

/**
 * Invariants 1, 2, 4 and 5 of docs/architecture.md#invariants, as far as events alone show them, and one invoice for one request. What an event needs
 * in other streams of its company is checked where the walk must hold those from the beginning. The result checks one well-formed event, in the order of
 * the log, and folds it into its stream.
 */
export const createLogInvariants = (walked: WalkedStreams, keySeconds: number) => {
  /** The stream that each key was first seen in. */
  const holders = {
    dpsNumbers: new Map<string, StreamFold>(),
    dpsIds: new Map<string, StreamFold>(),
    accessKeys: new Map<string, StreamFold>(),
    keyHashes: new Map<string, StreamFold>(),
    keyIds: new Map<string, StreamFold>(),
  };
  const allocated = new Set<string>();
  const requests = createRequestInvariants(walked.fromBeginning, keySeconds);

  const duplicate = (
    event: JudgedEvent,
    fold: StreamFold,
    what: string,
    held: Map<string, StreamFold>,
    key: string,
  ): readonly Finding[] => {
    const holder = held.get(key);
    if (holder === undefined) held.set(key, fold);
    return holder === undefined || holder === fold
      ? []
      : [findingOf(event, 'duplicate', `${what} that ${holder.stream} has`)];
  };
  const breach = (event: JudgedEvent, detail: string | undefined): readonly Finding[] =>
    detail === undefined ? [] : [findingOf(event, 'invariant', detail)];

  const invoice = (event: JudgedEvent<InvoiceEvent>, fold: StreamFold, address: InvoiceAddress): readonly Finding[] => {
    const next = foldInvoice(fold.invoice, event);
    const fault = 'breach' in next ? next.breach : (misplaced(event, address) ?? misattributed(event, address));
    fold.invoice = 'breach' in next || fault !== undefined ? notJudged : next;
    const begins = event.type === 'InvoiceAccepted' || event.type === 'InvoiceImported';
    const isUnknown = begins && walked.fromBeginning && !walked.has(companyStream(address.companyId));
    const unknown = isUnknown ? 'an invoice of a company of which no event is left' : undefined;
    return [
      ...breach(event, fault),
      ...breach(event, unknown),
      ...keysOf(event, fold, address),
      ...requests(event, address),
    ];
  };

  const keysOf = (
    event: JudgedEvent<InvoiceEvent>,
    fold: StreamFold,
    { mode, companyId, invoiceId }: InvoiceAddress,
  ): readonly Finding[] => {
    if (event.type !== 'IssuanceAttempted') {
      const key = noteGivenBy(event)?.accessKey;
      return key === undefined ? [] : duplicate(event, fold, 'an access key', holders.accessKeys, `${mode} ${key}`);
    }
    const { series, number, dpsId } = event.data;
    const dpsNumber = `${mode} ${companyId} ${series} ${number}`;
    const isAllocated = !walked.fromBeginning || allocated.has(`${dpsNumber} ${invoiceId}`);
    const isOwnId = isDpsIdOf(dpsId, { cnpj: companyId, series, number });
    return [
      ...breach(event, isOwnId ? undefined : 'a DPS id of another company, series or number'),
      ...duplicate(event, fold, 'a DPS number', holders.dpsNumbers, dpsNumber),
      ...duplicate(event, fold, 'a DPS id', holders.dpsIds, `${mode} ${dpsId}`),
      ...breach(event, isAllocated ? undefined : 'a DPS number that was not allocated to this invoice'),
    ];
  };

  const dpsNumber = (event: JudgedEvent, fold: StreamFold): readonly Finding[] => {
    const { nextNumber: next, isStopped } = fold.series;
    switch (event.type) {
      case 'DpsNumberAllocated': {
        const { number, nextNumber, invoiceId } = event.data;
        fold.series = { nextNumber, isStopped };
        const owner = parseDpsStream(event.stream);
        if (owner === undefined) return breach(event, 'a DPS number of a stream that names no series');
        allocated.add(`${owner.mode} ${owner.companyId} ${owner.series} ${number} ${invoiceId}`);
        const { mode, companyId } = owner;
        // Of a test invoice that ended after this part of the log nothing is left.
        const invoice = invoiceStream(mode, companyId, invoiceId);
        const isLost = mode === 'live' && walked.fromBeginning && !walked.has(invoice);
        if (isLost) return breach(event, `a DPS number of ${invoice}, of which no event is left`);
        if (isStopped) return breach(event, 'a number of a series that was stopped');
        if (nextNumber !== number + 1) return breach(event, 'the next number does not follow the one given');
        const isNext = next === undefined || number === next;
        return breach(event, isNext ? undefined : `number ${number} was given where ${next} was next`);
      }
      case 'DpsNumberMoved':
      case 'DpsSeriesBlocked': {
        const { nextNumber } = event.data;
        fold.series = { nextNumber, isStopped: event.type === 'DpsSeriesBlocked' };
        const isBackwards = next !== undefined && nextNumber < next;
        return breach(event, isBackwards ? 'the next number moved backwards' : undefined);
      }
      default:
        return [];
    }
  };

  const company = (event: JudgedEvent, fold: StreamFold): readonly Finding[] => {
    const begins = event.type === 'CompanyRegistered';
    if (begins !== (event.revision === 0)) return breach(event, 'a company is registered once, by its first event');
    if (event.type !== 'ApiKeyCreated') return [];
    return [
      ...duplicate(event, fold, 'an API key', holders.keyHashes, event.data.keyHash),
      ...duplicate(event, fold, 'the id of an API key', holders.keyIds, event.data.keyId),
    ];
  };

  return (event: JudgedEvent, fold: StreamFold): readonly Finding[] => {
    const address = parseInvoiceStream(event.stream);
    const fault = misplacedType(event);
    if (fault !== undefined) return breach(event, fault);
    if (address !== undefined) return invoice(event as JudgedEvent<InvoiceEvent>, fold, address);
    if (event.stream.startsWith('dps')) return dpsNumber(event, fold);
    if (event.stream.startsWith(companyPrefix)) return company(event, fold);
    const isMisplaced = event.type === 'LogAnchored' && event.stream !== `anchor-${event.data.day}`;
    return breach(event, isMisplaced ? 'an anchor of another day' : undefined);
  };
};

/** Which event types each kind of stream may hold. An event in a stream of another kind is a fault. */
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

const misplacedType = ({ stream, type }: { stream: StreamName; type: string }): string | undefined => {
  const types = typesOfStreams.find(([pattern]) => pattern.test(stream))?.[1];
  return types?.has(type) === true ? undefined : `${type} does not belong to such a stream`;
};

/** The name of the stream keeps companies and modes apart, so the event must say the same (docs/architecture.md#streams-and-events). */
const misplaced = (event: ReadInvoiceEvent, address: InvoiceAddress): string | undefined => {
  if (event.type !== 'InvoiceAccepted' && event.type !== 'InvoiceImported') {
    return event.type === 'TestInvoiceDeleted' && address.mode !== 'test' ? 'a live invoice was ended' : undefined;
  }
  const { mode, companyId, invoiceId } = event.data;
  const same = mode === address.mode && companyId === address.companyId && invoiceId === address.invoiceId;
  return same ? undefined : 'mode, company or id differ from the name of the stream';
};

/** Old events have no mode and company in their metadata, so they pass. */
const misattributed = ({ metadata }: JudgedEvent, { mode, companyId }: InvoiceAddress): string | undefined =>
  (metadata.mode ?? mode) === mode && (metadata.companyId ?? companyId) === companyId
    ? undefined
    : 'mode or company of its metadata differ from the name of the stream';
