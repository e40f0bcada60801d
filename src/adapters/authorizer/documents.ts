import { CANCELLATION_EVENT, isAccessKey } from '../../domain/common/access-key.js';
import { type Instant, instantOfStamp } from '../../domain/common/time.js';
import type { AuthorizedNote, RegisteredEvent } from '../../ports/authorizer.js';
import { gunzipBase64 } from '../../xml/packing.js';
import { attributeAt, nodeAt, parseXml, textAt, type XmlValue } from '../../xml/parse.js';
import {
  type AuthorizerDocument,
  type AuthorizerDocumentKind,
  EVENT,
  NOTE,
  readAuthorizerDocument,
} from '../../xml/received.js';
import { signatureMark } from '../../xml/sign.js';

/** What ties an answer to our request: the Id of the signed element and the DigestValue of its signature. */
export type SignedIdentity = { id: string; digest: string };

/** Returns the identity of a document that we signed; the signature covers `signedElement` below `root`. Throws for other bytes. */
export const identityOf = (signed: Buffer, root: string, signedElement: string): SignedIdentity => {
  const parsed = parseXml(signed);
  const id = parsed.ok ? attributeAt(parsed.root, `${root}/${signedElement}`, 'Id') : undefined;
  const digest = parsed.ok ? claimedAt(parsed.root, root) : '';
  if (id === undefined || digest === '') throw new Error('the bytes to send are not a signed document');
  return { id, digest };
};

/**
 * Reads the NFS-e in `nfseXmlGZipB64` of an answer or of an operator's file; undefined when it is not an NFS-e or lacks what the protocol needs. Only
 * a digest that we computed counts, whatever algorithms the document names (ADR 30).
 */
export const readNote = (packed: string | undefined): AuthorizedNote | undefined => {
  const read = unpackAndRead(packed, NOTE);
  if (read === undefined) return undefined;
  const { xml, root } = read;
  const accessKey = attributeAt(root, 'NFSe/infNFSe', 'Id')?.replace(/^NFS/, '') ?? '';
  const nfseNumber = textAt(root, 'NFSe/infNFSe/nNFSe');
  const authorizedAt = instantOf(textAt(root, 'NFSe/infNFSe/dhProc'));
  const dpsId = attributeAt(root, 'NFSe/infNFSe/DPS/infDPS', 'Id');
  if (!isAccessKey(accessKey) || nfseNumber === undefined) return undefined;
  if (authorizedAt === undefined || dpsId === undefined) return undefined;
  const { digest, ...doubts } = digestOf(read, 'NFSe/infNFSe/DPS');
  return { accessKey, nfseNumber, authorizedAt, xml, dpsId, digest, content: contentOf(root), ...doubts };
};

const contentOf = (root: XmlValue): AuthorizedNote['content'] => {
  const infDPS = nodeAt(root, 'NFSe/infNFSe/DPS/infDPS');
  const documents = ['CNPJ', 'CPF', 'NIF'].map((kind) => textAt(infDPS, `toma/${kind}`));
  return {
    amount: textAt(infDPS, 'valores/vServPrest/vServ') ?? '',
    description: textAt(infDPS, 'serv/cServ/xDescServ') ?? '',
    customerDocument: documents.find((document) => document !== undefined) ?? '',
  };
};

/** Reads the cancellation event of an answer as `readNote` reads a note; undefined when it is another event or no event. */
export const readEvent = (packed: string | undefined): RegisteredEvent | undefined => {
  const read = unpackAndRead(packed, EVENT);
  if (read === undefined) return undefined;
  const { xml, root } = read;
  const request = 'evento/infEvento/pedRegEvento';
  const registeredAt = instantOf(textAt(root, 'evento/infEvento/dhProc'));
  const requestId = attributeAt(root, `${request}/infPedReg`, 'Id');
  const reason = textAt(root, `${request}/infPedReg/e${CANCELLATION_EVENT}/cMotivo`);
  if (registeredAt === undefined || requestId === undefined || reason === undefined) return undefined;
  const { digest, ...doubts } = digestOf(read, request);
  return { xml, registeredAt, requestId, digest, ...doubts };
};

/** A digest counts when we compute it and the embedded signature names it too. Otherwise `digest` is empty and `contradiction` holds both values. */
const digestOf = ({ root, embeddedDigest: computed, signatureFault }: AuthorizerDocument, document: string) => {
  const claimed = claimedAt(root, document);
  return {
    ...(claimed === computed
      ? { digest: computed, ...markAt(root, document, computed) }
      : { digest: '', contradiction: { claimed, computed } }),
    ...(signatureFault === undefined ? {} : { signatureFault }),
  };
};

/** A note with its signatures has 20 KB; the limit leaves room for every field at its maximum length. */
const MAX_DOCUMENT_BYTES = 1024 * 1024;

const unpackAndRead = (
  packed: string | undefined,
  kind: AuthorizerDocumentKind,
): (AuthorizerDocument & { xml: Buffer }) | undefined => {
  const xml = unpack(packed);
  const read = xml === undefined ? undefined : readAuthorizerDocument(xml, kind);
  return xml === undefined || read === undefined ? undefined : { ...read, xml };
};

/** Undoes base64 and gzip; the event look-up packs its document in base64 twice (docs/national-system.md#event-look-up). */
const unpack = (packed: string | undefined): Buffer | undefined => {
  if (packed === undefined) return undefined;
  const once = gunzipBase64(packed, MAX_DOCUMENT_BYTES);
  if (once.ok) return once.bytes;
  if (once.reason !== 'not_gzip') return undefined;
  const twice = gunzipBase64(Buffer.from(packed, 'base64').toString('latin1'), MAX_DOCUMENT_BYTES);
  return twice.ok ? twice.bytes : undefined;
};

const claimedAt = (root: XmlValue, document: string): string =>
  textAt(root, `${document}/Signature/SignedInfo/Reference/DigestValue`)?.replace(/\s/g, '') ?? '';

const markAt = (root: XmlValue, document: string, digest: string): { signatureMark?: string } => {
  const value = textAt(root, `${document}/Signature/SignatureValue`)?.replace(/\s/g, '') ?? '';
  return value === '' ? {} : { signatureMark: signatureMark(digest, value) };
};

const STAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?[-+]\d{2}:\d{2}$/;

const instantOf = (stamp: string | undefined): Instant | undefined =>
  stamp !== undefined && STAMP.test(stamp) ? instantOfStamp(stamp) : undefined;
