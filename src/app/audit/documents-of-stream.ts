import type { AccessKey, DpsId } from '../../domain/common/access-key.js';
import type { StreamName } from '../../domain/common/ids.js';
import { type InvoiceEvent, noteGivenBy } from '../../domain/invoice/events.js';
import type { EmbeddedDigest, SignatureOracle } from '../../ports/documents.js';

/** A check that spans events of one stream. `afterEvent` is called after each event, also when its document could not be opened. */
type SpanningCheck = { afterEvent(stream: StreamName, event: InvoiceEvent): void };

/** After these events nothing is sent, and no attempt of the stream can record a note. */
export const ENDS_SENDING: ReadonlySet<InvoiceEvent['type']> = new Set<InvoiceEvent['type']>([
  'Authorized',
  'IssuanceRejected',
  'IssuanceFailed',
  'NotProcessed',
  'IndeterminateResolved',
  'TestInvoiceDeleted',
]);

/** After these events no request for a cancellation of the stream can be confirmed, and its note is not canceled again. */
const CANCELED: ReadonlySet<InvoiceEvent['type']> = new Set<InvoiceEvent['type']>([
  'CancellationConfirmed',
  'CancellationSettledBySupport',
  'NoteCanceledElsewhere',
  'TestInvoiceDeleted',
]);

/** All attempts under one DPS id must send the same content. Keeps the last document that each invoice without a final outcome has sent. */
export const createResendCheck = (): SpanningCheck & {
  faultOf(stream: StreamName, event: InvoiceEvent, digest: string | undefined): string | undefined;
} => {
  const sent = new Map<StreamName, { dpsId: DpsId; digest: string }>();
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
      if (ENDS_SENDING.has(type)) sent.delete(stream);
    },
  };
};

/** The access key of each note that is not canceled, which its canceling event must name. */
export const createNoteKeys = (): SpanningCheck & { of(stream: StreamName): AccessKey | undefined } => {
  const keys = new Map<StreamName, AccessKey>();
  return {
    of: (stream) => keys.get(stream),
    afterEvent: (stream, event) => {
      const key = noteGivenBy(event)?.accessKey;
      if (key !== undefined) keys.set(stream, key);
      else if (CANCELED.has(event.type)) keys.delete(stream);
    },
  };
};

/** What an invoice has sent: the digest of each attempt, undefined for a document that could not be opened. */
type SentDigests = Map<number, string | undefined>;

/**
 * Checks that what the authorizer gave back holds what was sent. The digest of each document of ours is kept from its attempt until a final outcome.
 * It is compared with the digest of our document inside the authorizer's, which is computed and not read from the signature (ADR 30). An event that
 * support found is not compared: earlier versions recorded those of other parties too.
 */
export const createEmbeddedCheck = (
  oracle: SignatureOracle,
  embeddedDigest: EmbeddedDigest,
): SpanningCheck & { faultOf(stream: StreamName, event: InvoiceEvent, xml: Buffer): string | undefined } => {
  const issues = new Map<StreamName, SentDigests>();
  const requests = new Map<StreamName, Set<string>>();
  /** Streams that sent an earlier request, and of whose last request the log has no send: its content alone has confirmed such a request. */
  const unsent = new Set<StreamName>();
  /** Access keys of the notes that invoices met under their numbers, with their own content: support may have settled an invoice with such a note (ADR 22). */
  const met = new Map<StreamName, Set<string>>();
  const digestOf = (xml: Buffer, signedElement: string): string | undefined => {
    const opinion = oracle(xml, signedElement);
    return opinion.holds ? opinion.digest : undefined;
  };
  const noteAttempt = (stream: StreamName, attempt: number, digest: string | undefined): void => {
    const sent: SentDigests = issues.get(stream) ?? new Map();
    issues.set(stream, sent.set(attempt, sent.get(attempt) ?? digest));
  };
  const noteFault = (digests: readonly (string | undefined)[], xml: Buffer): string | undefined =>
    digests.length === 0 || digests.includes(undefined) || digests.includes(embeddedDigest(xml, 'infNFSe'))
      ? undefined
      : 'the NFS-e holds another document than was sent';
  return {
    faultOf: (stream, { type, data }, xml) => {
      switch (type) {
        case 'IssuanceAttempted':
          noteAttempt(stream, data.attempt, digestOf(xml, 'infDPS'));
          return undefined;
        case 'CancellationAttempted': {
          const digest = digestOf(xml, 'infPedReg');
          if (digest !== undefined) requests.set(stream, (requests.get(stream) ?? new Set()).add(digest));
          return undefined;
        }
        case 'Authorized':
          return noteFault([issues.get(stream)?.get(data.attempt)], xml);
        case 'IndeterminateResolved':
          if (data.as !== 'issued' || data.attemptLost === true || met.get(stream)?.has(data.accessKey) === true)
            return undefined;
          return noteFault([...(issues.get(stream)?.values() ?? [])], xml);
        case 'CancellationConfirmed': {
          const known = requests.get(stream);
          return known === undefined || unsent.has(stream) || known.has(embeddedDigest(xml, 'infEvento'))
            ? undefined
            : 'the evento holds another document than was sent';
        }
        default:
          return undefined;
      }
    },
    afterEvent: (stream, { type, data }) => {
      if (type === 'IssuanceAttempted') noteAttempt(stream, data.attempt, undefined);
      if (type === 'NumberConflictFound' && data.sameContent)
        met.set(stream, (met.get(stream) ?? new Set()).add(data.accessKey));
      if (ENDS_SENDING.has(type)) {
        issues.delete(stream);
        met.delete(stream);
      }
      if (type === 'CancellationRequested' && requests.has(stream)) unsent.add(stream);
      if (type === 'CancellationAttempted' || CANCELED.has(type)) unsent.delete(stream);
      if (CANCELED.has(type)) requests.delete(stream);
    },
  };
};
