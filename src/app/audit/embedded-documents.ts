import { gunzipSync } from 'node:zlib';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import type { StreamName } from '../../domain/shared/ids.js';
import type { EmbeddedDigest, SignatureOracle } from '../../ports/documents.js';
import { MAX_XML_BYTES } from '../download/download.js';

export type EmbeddedDocuments = {
  /** Looks at an event and its opened document; what is wrong with the document, or undefined. */
  faultOf(stream: StreamName, event: InvoiceEvent, gzip: string): string | undefined;
  /** After each event, also one whose document nobody can open. */
  passed(stream: StreamName, event: InvoiceEvent): void;
};

/**
 * Whether what the authorizer gave back has what was sent inside: the digest of each document of ours is remembered from its attempt
 * until an outcome, and compared with ours inside of the authorizer's, computed anew whatever its signature names (ADR 30).
 */
export const embeddedDocuments = (oracle: SignatureOracle, embedded: EmbeddedDigest): EmbeddedDocuments => {
  const sent = new Map<string, Set<string>>();
  const remember = (key: string, xml: Buffer, signedElement: string): undefined => {
    const opinion = oracle(xml, signedElement);
    if (opinion.holds) sent.set(key, (sent.get(key) ?? new Set()).add(opinion.digest));
    return undefined;
  };
  const compared = (key: string, xml: Buffer, signed: 'infNFSe' | 'infEvento', name: string): string | undefined => {
    const known = sent.get(key);
    return known === undefined || known.has(embedded(xml, signed))
      ? undefined
      : `the ${name} holds another document than was sent`;
  };
  return {
    faultOf: (stream, { type, data }, gzip) => {
      switch (type) {
        case 'IssuanceAttempted':
          return remember(issueKey(stream, data.attempt), unzipped(gzip), 'infDPS');
        case 'CancellationAttempted':
          return remember(cancelKey(stream), unzipped(gzip), 'infPedReg');
        case 'Authorized':
          return compared(issueKey(stream, data.attempt), unzipped(gzip), 'infNFSe', 'NFS-e');
        case 'CancellationConfirmed':
          return compared(cancelKey(stream), unzipped(gzip), 'infEvento', 'evento');
        default:
          return undefined;
      }
    },
    passed: (stream, { type }) => {
      if (OUTCOMES.has(type)) for (let attempt = 1; sent.delete(issueKey(stream, attempt)); attempt += 1);
      if (type === 'CancellationConfirmed' || type === 'TestInvoiceDeleted') sent.delete(cancelKey(stream));
    },
  };
};

/** After these no note of the stream is recorded by an attempt any more. */
const OUTCOMES = new Set<InvoiceEvent['type']>([
  ...(['Authorized', 'IssuanceRejected', 'IssuanceFailed', 'IssuanceInterrupted', 'TestInvoiceDeleted'] as const),
]);

const issueKey = (stream: StreamName, attempt: number): string => `${stream}/${attempt}`;
const cancelKey = (stream: StreamName): string => `${stream}/cancel`;

/** Of a document that was found to be whole before. */
const unzipped = (gzip: string): Buffer => gunzipSync(Buffer.from(gzip, 'base64'), { maxOutputLength: MAX_XML_BYTES });
