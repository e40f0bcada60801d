import { gunzipSync } from 'node:zlib';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import type { SignatureOracle } from '../../ports/documents.js';
import { MAX_XML_BYTES } from '../download/download.js';
import { sha256Hex } from '../hashes.js';

/** Which document an event keeps, in which field, and what the same event says of it. */
export type StoredDocument = {
  name: 'DPS' | 'NFS-e' | 'pedRegEvento' | 'evento';
  /** Base64 of the gzipped bytes, sealed. */
  field: string;
  signedElement: string;
  /** Of the exact bytes, hex. */
  sha256?: string;
  /** DigestValue of the signature, base64, of an event that tells it: opened by the caller. */
  digest?: string;
  /** `Id` of the signed element. */
  id?: string;
  /** Made elsewhere, perhaps before notes were signed. */
  mayBeUnsigned?: true;
};

/** The document of an event whose personal fields may be sealed; undefined for one that has none. */
export const storedDocumentOf = (event: InvoiceEvent): StoredDocument | undefined => {
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
      return { name: 'evento', field: 'eventXmlGzip', signedElement: 'infEvento', sha256: event.data.eventSha256 };
    default:
      return undefined;
  }
};

const noteOf = ({ accessKey, nfseSha256 }: { accessKey?: string; nfseSha256?: string }): StoredDocument => ({
  ...{ name: 'NFS-e', field: 'nfseXmlGzip', signedElement: 'infNFSe' },
  ...(nfseSha256 === undefined ? {} : { sha256: nfseSha256 }),
  ...(accessKey === undefined ? {} : { id: `NFS${accessKey}` }),
});

/** What is wrong with an opened document; undefined when its event tells the truth of it and its signature holds. */
export const documentFault = (document: StoredDocument, gzip: string, oracle: SignatureOracle): string | undefined => {
  const { name, signedElement, sha256, digest, id, mayBeUnsigned } = document;
  const xml = unzipped(gzip);
  if (xml === undefined) return `the ${name} cannot be unpacked`;
  if (sha256 !== undefined && sha256Hex(xml) !== sha256) return `the ${name} is not the one whose SHA-256 was recorded`;
  const opinion = oracle(xml, signedElement);
  if (!opinion.holds) {
    const isTaken = mayBeUnsigned === true && opinion.reason === 'none';
    return isTaken ? undefined : `the signature of the ${name}: ${opinion.reason}`;
  }
  if (digest !== undefined && opinion.digest !== digest) return `the ${name} has another digest than was recorded`;
  return id === undefined || opinion.reference === id ? undefined : `the ${name} has another Id than was recorded`;
};

const unzipped = (gzip: string): Buffer | undefined => {
  try {
    return gunzipSync(Buffer.from(gzip, 'base64'), { maxOutputLength: MAX_XML_BYTES });
  } catch {
    return undefined;
  }
};
