import { gunzipSync } from 'node:zlib';
import { invoicePrefix, type StreamName } from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import type { EmbeddedDigest, SignatureOracle } from '../../ports/documents.js';
import type { EventLog, RecordedEvent } from '../../ports/event-log.js';
import type { SealingKeys } from '../../ports/sealing-keys.js';
import { MAX_XML_BYTES } from '../download/download.js';
import { decodeSealed } from '../event-store/codec.js';
import { sha256Hex } from '../event-store/hashes.js';
import { isSealed, openField, sealedWith } from '../event-store/sealing.js';
import { shareOf, type WalkProgress, walkLog } from '../event-store/walk-log.js';
import { type Findings, findingOf } from './finding.js';

/** `sealed`: documents that cannot be opened, because their key was destroyed or given up. */
export type DocumentCount = { checked: number; sealed: number };

type DocumentDeps = {
  log: Pick<EventLog, 'readAll' | 'head'>;
  keys: SealingKeys;
  oracle: SignatureOracle;
  embeddedDigest: EmbeddedDigest;
};

/**
 * Opens every signed document of the log and checks it with another implementation than the one that signed or accepted it. Then compares what
 * the authorizer gave back with what was sent. Findings show nothing of a document. Throws at an event that cannot be decoded, so the caller
 * verifies the log first.
 */
export const verifyDocuments = async (
  { log, keys, oracle, embeddedDigest }: DocumentDeps,
  findings: Findings,
  onProgress?: (progress: WalkProgress) => void,
): Promise<DocumentCount> => {
  const head = await log.head();
  const count = { checked: 0, sealed: 0 };
  const resends = createResendCheck();
  const embedded = createEmbeddedCheck(oracle, embeddedDigest);
  let events = 0;

  const faultOf = async (recorded: RecordedEvent, event: InvoiceEvent): Promise<string | undefined> => {
    const document = storedDocumentOf(event);
    const opened = document && (await openedText(recorded, document.field, keys));
    if (document === undefined || opened === undefined) return undefined;
    if (opened === 'no key') {
      count.sealed += 1;
      return undefined;
    }
    count.checked += 1;
    const openedDigest = await openedText(recorded, 'digest', keys);
    if (opened === 'changed' || openedDigest === 'changed') return `the ${document.name} cannot be opened`;
    const xml = unpacked(opened.text);
    if (xml === undefined) return `the ${document.name} cannot be unpacked`;
    const digest = typeof openedDigest === 'object' ? openedDigest.text : undefined;
    return (
      documentFault(document, digest, xml, oracle) ??
      resends.faultOf(recorded.stream, event, digest) ??
      embedded.faultOf(recorded.stream, event, xml)
    );
  };

  for await (const page of walkLog(log, Object.values(invoicePrefix))) {
    for (const recorded of page) {
      const event = decodeSealed(recorded) as InvoiceEvent;
      const fault = await faultOf(recorded, event);
      if (fault !== undefined) findings.add(findingOf(recorded, 'document', fault));
      resends.afterEvent(recorded.stream, event);
      embedded.afterEvent(recorded.stream, event);
    }
    events += page.length;
    onProgress?.({ events, share: shareOf(page.at(-1)?.position ?? null, head) });
  }
  return count;
};

/** Undefined for an optional field that is not there. */
const openedText = async (
  { data, stream, id: eventId }: RecordedEvent,
  field: string,
  keys: SealingKeys,
): Promise<{ text: string } | 'no key' | 'changed' | undefined> => {
  const value = data[field];
  if (value === undefined) return undefined;
  if (!isSealed(value)) return { text: String(value) };
  const generation = sealedWith(value)?.generation;
  const key = generation === undefined ? undefined : await keys.forOpening(generation, stream);
  if (key === undefined) return 'no key';
  try {
    return { text: String(openField(value, { stream, eventId, field }, key)) };
  } catch {
    return 'changed';
  }
};

/** Base64 of gzip; undefined for damaged data and for data that unpacks to too much. */
const unpacked = (gzip: string): Buffer | undefined => {
  try {
    return gunzipSync(Buffer.from(gzip, 'base64'), { maxOutputLength: MAX_XML_BYTES });
  } catch {
    return undefined;
  }
};

/** Which document an event keeps, in which field, and what the same event says of it. */
type StoredDocument = {
  name: 'DPS' | 'NFS-e' | 'pedRegEvento' | 'evento';
  /** Base64 of the gzipped bytes, sealed. */
  field: string;
  signedElement: string;
  /** Of the exact bytes, hex. */
  sha256?: string;
  /** `Id` of the signed element. */
  id?: string;
  /** The note was made elsewhere, perhaps before notes were signed. */
  mayBeUnsigned?: true;
};

/** The document that an event stores, also when its personal fields are sealed; undefined for an event without a document. */
const storedDocumentOf = (event: InvoiceEvent): StoredDocument | undefined => {
  switch (event.type) {
    case 'IssuanceAttempted':
      return { name: 'DPS', field: 'signedDpsGzip', signedElement: 'infDPS', id: event.data.dpsId };
    case 'CancellationAttempted':
      return { name: 'pedRegEvento', field: 'signedRequestGzip', signedElement: 'infPedReg', id: event.data.requestId };
    case 'Authorized':
      return noteOf(event.data);
    case 'IndeterminateResolved':
      return event.data.as === 'issued' ? noteOf(event.data) : undefined;
    case 'InvoiceImported':
      return event.data.nfseSha256 === undefined ? undefined : { ...noteOf(event.data), mayBeUnsigned: true };
    case 'CancellationConfirmed':
    case 'CancellationSettledBySupport':
    case 'NoteCanceledElsewhere':
      return { name: 'evento', field: 'eventXmlGzip', signedElement: 'infEvento', sha256: event.data.eventSha256 };
    default:
      return undefined;
  }
};

const noteOf = ({ accessKey, nfseSha256 }: { accessKey?: string; nfseSha256?: string }): StoredDocument => {
  const id = accessKey && `NFS${accessKey}`;
  return present({ name: 'NFS-e' as const, field: 'nfseXmlGzip', signedElement: 'infNFSe', sha256: nfseSha256, id });
};

/**
 * What is wrong with an opened document; undefined when it is what its event records and its signature holds. `digest`: DigestValue of the
 * signature in base64, where the event records it.
 */
const documentFault = (
  { name, signedElement, sha256, id, mayBeUnsigned }: StoredDocument,
  digest: string | undefined,
  xml: Buffer,
  oracle: SignatureOracle,
): string | undefined => {
  if (sha256 !== undefined && sha256Hex(xml) !== sha256) return `the ${name} is not the one whose SHA-256 was recorded`;
  const opinion = oracle(xml, signedElement);
  if (!opinion.holds) {
    const isTaken = mayBeUnsigned === true && opinion.reason === 'none';
    return isTaken ? undefined : `the signature of the ${name}: ${opinion.reason}`;
  }
  if (digest !== undefined && opinion.digest !== digest) return `the ${name} has another digest than was recorded`;
  return id === undefined || opinion.reference === id ? undefined : `the ${name} has another Id than was recorded`;
};

/** A check that spans events of one stream. `afterEvent` is called after each event, also when its document could not be opened. */
type SpanningCheck = { afterEvent(stream: StreamName, event: InvoiceEvent): void };

/** After these events nothing is sent, and no attempt of the stream can record a note. */
const OUTCOMES: ReadonlySet<InvoiceEvent['type']> = new Set<InvoiceEvent['type']>([
  'Authorized',
  'IssuanceRejected',
  'IssuanceFailed',
  'NotProcessed',
  'IssuanceInterrupted',
  'TestInvoiceDeleted',
]);

/** After these events no request for a cancellation of the stream can be confirmed. */
const CANCELED: ReadonlySet<InvoiceEvent['type']> = new Set<InvoiceEvent['type']>([
  'CancellationConfirmed',
  'NoteCanceledElsewhere',
  'TestInvoiceDeleted',
]);

/** All attempts under one DPS id must send the same content. Keeps the last document that each invoice without an outcome has sent. */
const createResendCheck = (): SpanningCheck & {
  faultOf(stream: StreamName, event: InvoiceEvent, digest: string | undefined): string | undefined;
} => {
  const sent = new Map<StreamName, { dpsId: string; digest: string }>();
  return {
    faultOf: (stream, { type, data }, digest) => {
      if (type !== 'IssuanceAttempted') return undefined;
      const before = sent.get(stream);
      if (digest !== undefined) sent.set(stream, { dpsId: data.dpsId, digest });
      return before?.dpsId === data.dpsId && before.digest !== digest
        ? 'a further attempt with another DPS'
        : undefined;
    },
    afterEvent: (stream, { type }) => {
      if (OUTCOMES.has(type)) sent.delete(stream);
    },
  };
};

/**
 * Checks that what the authorizer gave back holds what was sent. The digest of each document of ours is kept from its attempt until an outcome.
 * It is compared with the digest of our document inside the authorizer's, which is computed and not read from the signature (ADR 30).
 */
const createEmbeddedCheck = (
  oracle: SignatureOracle,
  embeddedDigest: EmbeddedDigest,
): SpanningCheck & { faultOf(stream: StreamName, event: InvoiceEvent, xml: Buffer): string | undefined } => {
  const sent = new Map<string, Set<string>>();
  const remember = (key: string, xml: Buffer, signedElement: string): undefined => {
    const opinion = oracle(xml, signedElement);
    if (opinion.holds) sent.set(key, (sent.get(key) ?? new Set()).add(opinion.digest));
    return undefined;
  };
  const compared = (key: string, xml: Buffer, signed: 'infNFSe' | 'infEvento', name: string): string | undefined => {
    const known = sent.get(key);
    return known === undefined || known.has(embeddedDigest(xml, signed))
      ? undefined
      : `the ${name} holds another document than was sent`;
  };
  return {
    faultOf: (stream, { type, data }, xml) => {
      switch (type) {
        case 'IssuanceAttempted':
          return remember(issueKey(stream, data.attempt), xml, 'infDPS');
        case 'CancellationAttempted':
          return remember(cancelKey(stream), xml, 'infPedReg');
        case 'Authorized':
          return compared(issueKey(stream, data.attempt), xml, 'infNFSe', 'NFS-e');
        case 'CancellationConfirmed':
          return compared(cancelKey(stream), xml, 'infEvento', 'evento');
        default:
          return undefined;
      }
    },
    afterEvent: (stream, { type }) => {
      if (OUTCOMES.has(type)) for (let attempt = 1; sent.delete(issueKey(stream, attempt)); attempt += 1);
      if (CANCELED.has(type)) sent.delete(cancelKey(stream));
    },
  };
};

const issueKey = (stream: StreamName, attempt: number): string => `${stream}/${attempt}`;
const cancelKey = (stream: StreamName): string => `${stream}/cancel`;
