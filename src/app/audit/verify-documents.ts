import { type AccessKey, CANCELLATION_EVENT, cancelingEvents } from '../../domain/common/access-key.js';
import { present } from '../../domain/common/present.js';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { ALL_STREAMS } from '../../domain/log/stream-prefixes.js';
import type { DocumentTexts, EmbeddedDigest, SignatureOracle } from '../../ports/documents.js';
import type { EventLog, RecordedEvent } from '../../ports/event-log.js';
import type { SealingKeys } from '../../ports/sealing-keys.js';
import { MAX_XML_BYTES } from '../download/download.js';
import { decodeSealed } from '../event-store/codec.js';
import { sha256Hex } from '../event-store/hashes.js';
import { shareOf, type WalkProgress, walkLog } from '../event-store/walk-log.js';
import { unpacked } from '../issuing/stored-documents.js';
import { createContentCheck } from './document-content.js';
import { createEmbeddedCheck, createNoteKeys, createResendCheck } from './documents-of-stream.js';
import { type Findings, findingOf } from './finding.js';
import { type OpenedFields, openFields } from './opened-fields.js';

/** `sealed`: documents that cannot be opened, because their key was destroyed or given up. */
export type DocumentCount = { checked: number; sealed: number };

type DocumentDeps = {
  log: Pick<EventLog, 'readAll' | 'head'>;
  keys: SealingKeys;
  oracle: SignatureOracle;
  embeddedDigest: EmbeddedDigest;
  textsOf: DocumentTexts;
};

/**
 * Opens every sealed field of the log. Checks every signed document with another implementation than the one that signed or accepted it, then
 * compares what the authorizer gave back with what was sent, and both with what the events say in clear. Findings show nothing of a document. Throws
 * at an event that cannot be decoded, so the caller verifies the log first.
 */
export const verifyDocuments = async (
  { log, keys, oracle, embeddedDigest, textsOf }: DocumentDeps,
  findings: Findings,
  onProgress?: (progress: WalkProgress) => void,
): Promise<DocumentCount> => {
  const head = await log.head();
  const count = { checked: 0, sealed: 0 };
  const resends = createResendCheck();
  const embedded = createEmbeddedCheck(oracle, embeddedDigest);
  const contents = createContentCheck(textsOf);
  const noteKeys = createNoteKeys();
  let events = 0;

  const faultOf = (recorded: RecordedEvent, event: InvoiceEvent, openedFields: OpenedFields): string | undefined => {
    const document = storedDocumentOf(event, noteKeys.of(recorded.stream));
    const opened = document && openedText(recorded, document.field, openedFields);
    if (document === undefined || opened === undefined) return undefined;
    if (opened === 'no key') {
      count.sealed += 1;
      return undefined;
    }
    count.checked += 1;
    const openedDigest = openedText(recorded, 'digest', openedFields);
    // The sealed field has its own finding.
    if (opened === 'changed' || openedDigest === 'changed') return undefined;
    const xml = unpackedIfWhole(opened.text);
    if (xml === undefined) return `the ${document.name} cannot be unpacked`;
    const digest = typeof openedDigest === 'object' ? openedDigest.text : undefined;
    return (
      documentFault(document, digest, xml, oracle) ??
      resends.faultOf(recorded.stream, event, digest) ??
      embedded.faultOf(recorded.stream, event, xml) ??
      contents.faultOf(recorded.stream, event, xml)
    );
  };

  for await (const page of walkLog(log, ALL_STREAMS)) {
    for (const recorded of page) {
      const opened = await openFields(recorded, keys, ({ fault }) =>
        findings.add(findingOf(recorded, 'sealing', fault)),
      );
      const event = decodeSealed(recorded) as InvoiceEvent;
      const fault = faultOf(recorded, event, opened);
      if (fault !== undefined) findings.add(findingOf(recorded, 'document', fault));
      resends.afterEvent(recorded.stream, event);
      embedded.afterEvent(recorded.stream, event);
      contents.afterEvent(recorded, event, opened);
      noteKeys.afterEvent(recorded.stream, event);
    }
    events += page.length;
    onProgress?.({ events, share: shareOf(page.at(-1)?.position ?? null, head) });
  }
  return count;
};

/** Undefined for an optional field that is not there. */
const openedText = (
  { data }: RecordedEvent,
  field: string,
  openedFields: OpenedFields,
): { text: string } | 'no key' | 'changed' | undefined => {
  const opened = openedFields.get(field);
  if (typeof opened === 'object') return { text: String(opened.value) };
  if (opened !== undefined) return opened;
  const value = data[field];
  return value === undefined ? undefined : { text: String(value) };
};

/** Undefined for damaged data, and for data that unpacks to too much. */
const unpackedIfWhole = (gzip: string): Buffer | undefined => {
  try {
    return unpacked(gzip, MAX_XML_BYTES);
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
  /** Whether the `Id` of the signed element is that of an event that cancels the note of the invoice. */
  cancels?(id: string): boolean;
  /** The note was made elsewhere, perhaps before notes were signed. */
  mayBeUnsigned?: true;
};

/**
 * The document that an event stores, also when its personal fields are sealed; undefined for an event without a document. `noteKey`: the access key
 * of the note that the invoice has, where the log knows it.
 */
const storedDocumentOf = (event: InvoiceEvent, noteKey: AccessKey | undefined): StoredDocument | undefined => {
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
      return eventoOf(event.data, [noteKey], [CANCELLATION_EVENT]);
    case 'CancellationSettledBySupport':
      return eventoOf(event.data, [noteKey], cancelingEvents);
    case 'NoteCanceledElsewhere':
      return eventoOf(event.data, [noteKey, event.data.accessKey], [event.data.eventType]);
    default:
      return undefined;
  }
};

const noteOf = ({ accessKey, nfseSha256 }: { accessKey?: string; nfseSha256?: string }): StoredDocument => {
  const id = accessKey && `NFS${accessKey}`;
  return present({ name: 'NFS-e' as const, field: 'nfseXmlGzip', signedElement: 'infNFSe', sha256: nfseSha256, id });
};

/** The `Id` of an `evento` is `EVT`, the access key, the type, and a number (docs/national-system.md#event-ids). */
const eventoOf = (
  { eventSha256: sha256 }: { eventSha256: string },
  accessKeys: readonly (AccessKey | undefined)[],
  types: readonly string[],
): StoredDocument => ({
  name: 'evento',
  field: 'eventXmlGzip',
  signedElement: 'infEvento',
  sha256,
  cancels: (id) => {
    const [, key, type = ''] = /^EVT(.{50})(.{6})/.exec(id) ?? [];
    return types.includes(type) && accessKeys.every((known) => known === undefined || known === key);
  },
});

/**
 * What is wrong with an opened document; undefined when it is what its event records and its signature holds. `digest`: DigestValue of the
 * signature in base64, where the event records it.
 */
const documentFault = (
  { name, signedElement, sha256, id, cancels, mayBeUnsigned }: StoredDocument,
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
  if (cancels?.(opinion.reference) === false) return `the ${name} is no event that cancels the note of the invoice`;
  return id === undefined || opinion.reference === id ? undefined : `the ${name} has another Id than was recorded`;
};
