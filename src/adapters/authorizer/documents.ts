import {
  type CancelingEvent,
  cancelingEvents,
  isAccessKey,
  numberOfKey,
  SUBSTITUTION_EVENT,
} from '../../domain/common/access-key.js';
import { type Mode, modes } from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import { type Instant, instantOfStamp } from '../../domain/common/time.js';
import { tpAmb } from '../../domain/dps/layout.js';
import type { AuthorizedNote, RegisteredEvent } from '../../ports/authorizer.js';
import { parseXml } from '../../xml/document.js';
import { gunzipBase64, gzipBase64 } from '../../xml/packing.js';
import { attributeAt, textAt } from '../../xml/parse.js';
import {
  type AuthorizerDocument,
  type AuthorizerDocumentKind,
  EVENT,
  NOTE,
  readAuthorizerDocument,
} from '../../xml/received.js';
import { signatureMark, signedParts } from '../../xml/sign.js';

/** What ties an answer to our request: the Id of the signed element and the DigestValue of its signature. */
type SignedIdentity = { id: string; digest: string };

/** `document` is the whole document from its first to its last tag; an answer is compared with its bytes. */
export type SentDocument = SignedIdentity & { document?: Uint8Array };

/** Returns the identity of a document that we signed; the signature covers `signedElement` below `root`. Throws for other bytes. */
export const identityOf = (signed: Buffer, root: string, signedElement: string): SentDocument => {
  const { id, digest } = identityInText(signed, root, signedElement) ?? identityInXml(signed, root, signedElement);
  if (id === undefined || digest === '') throw new Error('the bytes to send are not a signed document');
  // A copy: crossing to a thread, a Buffer takes along all of the memory that it shares.
  return { id, digest, document: new Uint8Array(signed.subarray(signed.indexOf(`<${root} `))) };
};

/** Reads the text of our own signer. Undefined for any other text, which is parsed. */
const identityInText = (signed: Buffer, root: string, signedElement: string): SignedIdentity | undefined => {
  const parts = signedParts(signed.toString('utf8'));
  const id = new RegExp(`^<${root} [^<>]*><${signedElement} Id="([^"&<]+)">`).exec(parts?.unsigned ?? '')?.[1];
  return parts === undefined || id === undefined ? undefined : { id, digest: parts.digest };
};

const identityInXml = (signed: Buffer, root: string, signedElement: string) => {
  const parsed = parseXml(signed);
  const id = parsed.ok ? attributeAt(parsed.root, `${root}/${signedElement}`, 'Id') : undefined;
  const path = `${root}/Signature/SignedInfo/Reference/DigestValue`;
  return { id, digest: parsed.ok ? (textAt(parsed.root, path)?.replace(/\s/g, '') ?? '') : '' };
};

/**
 * Reads the NFS-e in `nfseXmlGZipB64` of an answer or of an operator's file; undefined when it is not an NFS-e or lacks what the protocol needs. Only
 * a digest that we computed counts, whatever algorithms the document names (ADR 30). `sent` is the document that it should embed.
 */
export const readNote = (packed: string | undefined, sent?: Uint8Array): AuthorizedNote | undefined => {
  const read = unpackAndRead(packed, NOTE, sent);
  if (read === undefined) return undefined;
  const { xml, text, attribute } = read;
  const accessKey = attribute('NFSe/infNFSe', 'Id')?.replace(/^NFS/, '') ?? '';
  const authorizedAt = instantOf(text('NFSe/infNFSe/dhProc'));
  const dpsId = attribute(infDPS, 'Id');
  if (!isAccessKey(accessKey) || text('NFSe/infNFSe/nNFSe') === undefined) return undefined;
  if (authorizedAt === undefined || dpsId === undefined) return undefined;
  const { digest, ...doubts } = digestOf(read, 'NFSe/infNFSe/DPS');
  // From the key, whose form was checked: the number goes into events in clear, and an element may hold any text.
  const nfseNumber = numberOfKey(accessKey);
  const facts = {
    mode: modeOf(text(`${infDPS}/tpAmb`)),
    emittedAt: instantOf(text(`${infDPS}/dhEmi`)),
    provider: text(`${infDPS}/prest/CNPJ`),
  };
  return {
    accessKey,
    nfseNumber,
    authorizedAt,
    xml,
    dpsId,
    digest,
    content: contentOf(read),
    ...doubts,
    ...present(facts),
  };
};

/** Reads the XML of a note that was made elsewhere; undefined for any other text. */
export const readImportedNote = (xml: Buffer): AuthorizedNote | undefined => readNote(gzipBase64(xml));

const infDPS = 'NFSe/infNFSe/DPS/infDPS';

const modeOf = (environment: string | undefined): Mode | undefined => modes.find((mode) => tpAmb[mode] === environment);

const contentOf = ({ text }: AuthorizerDocument): AuthorizedNote['content'] => {
  const documents = ['CNPJ', 'CPF', 'NIF'].map((kind) => text(`${infDPS}/toma/${kind}`));
  return {
    amount: text(`${infDPS}/valores/vServPrest/vServ`) ?? '',
    description: text(`${infDPS}/serv/cServ/xDescServ`) ?? '',
    customerDocument: documents.find((document) => document !== undefined) ?? '',
  };
};

/** Reads an event that cancels or replaces a note, as `readNote` reads a note; undefined when it is another event or no event. */
export const readEvent = (packed: string | undefined, sent?: Uint8Array): RegisteredEvent | undefined => {
  const read = unpackAndRead(packed, EVENT, sent);
  if (read === undefined) return undefined;
  const { xml, text, attribute } = read;
  const request = 'evento/infEvento/pedRegEvento';
  const details = (type: CancelingEvent): string => `${request}/infPedReg/e${type}`;
  const registeredAt = instantOf(text('evento/infEvento/dhProc'));
  const requestId = attribute(`${request}/infPedReg`, 'Id');
  const eventType = cancelingEvents.find((type) => text(`${details(type)}/${MANDATORY[type]}`) !== undefined);
  if (registeredAt === undefined || requestId === undefined || eventType === undefined) return undefined;
  const replacedBy = text(`${details(SUBSTITUTION_EVENT)}/chSubstituta`);
  const { digest, ...doubts } = digestOf(read, request);
  return {
    xml,
    eventType,
    registeredAt,
    requestId,
    digest,
    ...doubts,
    ...present({ replacedBy: replacedBy !== undefined && isAccessKey(replacedBy) ? replacedBy : undefined }),
  };
};

/** An element that every event of the type has. */
const MANDATORY: Readonly<Record<CancelingEvent, string>> = {
  '101101': 'cMotivo',
  '105102': 'xDesc',
  '105104': 'xDesc',
  '305101': 'xDesc',
};

/** A digest counts when we compute it and the embedded signature names it too. Otherwise `digest` is empty and `contradiction` holds both values. */
const digestOf = (read: AuthorizerDocument, document: string) => {
  const { embeddedDigest: computed, claimedDigest: claimed, signatureFault } = read;
  return {
    ...(claimed === computed
      ? { digest: computed, ...markOf(read, document) }
      : { digest: '', contradiction: { claimed, computed } }),
    ...(signatureFault === undefined ? {} : { signatureFault }),
  };
};

/** A note with its signatures has 20 KB; the limit leaves room for every field at its maximum length. */
const MAX_DOCUMENT_BYTES = 1024 * 1024;

const unpackAndRead = (
  packed: string | undefined,
  kind: AuthorizerDocumentKind,
  sent: Uint8Array | undefined,
): (AuthorizerDocument & { xml: Buffer }) | undefined => {
  const xml = unpack(packed);
  const read = xml === undefined ? undefined : readAuthorizerDocument(xml, kind, sent);
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

const markOf = ({ text, embeddedDigest }: AuthorizerDocument, document: string): { signatureMark?: string } => {
  const value = text(`${document}/Signature/SignatureValue`)?.replace(/\s/g, '') ?? '';
  return value === '' ? {} : { signatureMark: signatureMark(embeddedDigest, value) };
};

const STAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?[-+]\d{2}:\d{2}$/;

const instantOf = (stamp: string | undefined): Instant | undefined =>
  stamp !== undefined && STAMP.test(stamp) ? instantOfStamp(stamp) : undefined;
