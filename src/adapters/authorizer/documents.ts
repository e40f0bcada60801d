import { CANCELLATION_EVENT, isAccessKey } from '../../domain/shared/access-key.js';
import { type Instant, instant } from '../../domain/shared/time.js';
import type { AuthorizedNote, RegisteredEvent } from '../../ports/authorizer.js';
import { embeddedDigestFits, isIntact } from '../../xml/intact.js';
import { attributeAt, nodeAt, parseXml, textAt, type XmlValue } from '../../xml/parse.js';
import { signatureMark } from '../../xml/signature-mark.js';
import { gunzipBase64 } from '../../xml/transport.js';

/** What ties an answer to our request: the Id of the signed element and the DigestValue of its signature. */
export type SignedIdentity = { id: string; digest: string };

/** Of a document that we signed: `path` leads to its signed element. Throws for anything else. */
export const identityOf = (signed: Buffer, root: string, signedElement: string): SignedIdentity => {
  const parsed = parseXml(signed);
  const id = parsed.ok ? attributeAt(parsed.root, `${root}/${signedElement}`, 'Id') : undefined;
  const digest = parsed.ok ? digestAt(parsed.root, root) : '';
  if (id === undefined || digest === '') throw new Error('the bytes to send are not a signed document');
  return { id, digest };
};

/** The NFS-e inside `nfseXmlGZipB64`, as an operator's file may hold it; undefined when it is none or misses what the protocol needs. */
export const readNote = (packed: string | undefined): AuthorizedNote | undefined => {
  const xml = unpack(packed);
  const parsed = xml === undefined ? undefined : parseXml(xml);
  if (xml === undefined || parsed === undefined || !parsed.ok) return undefined;
  const accessKey = attributeAt(parsed.root, 'NFSe/infNFSe', 'Id')?.replace(/^NFS/, '') ?? '';
  const nfseNumber = textAt(parsed.root, 'NFSe/infNFSe/nNFSe');
  const authorizedAt = instantOf(textAt(parsed.root, 'NFSe/infNFSe/dhProc'));
  const dpsId = attributeAt(parsed.root, 'NFSe/infNFSe/DPS/infDPS', 'Id');
  if (!isAccessKey(accessKey) || nfseNumber === undefined) return undefined;
  if (authorizedAt === undefined || dpsId === undefined) return undefined;
  const dpsDigest = digestAt(parsed.root, 'NFSe/infNFSe/DPS');
  const mark = markAt(parsed.root, 'NFSe/infNFSe/DPS');
  return { accessKey, nfseNumber, authorizedAt, xml, dpsId, dpsDigest, ...mark, content: contentOf(parsed.root) };
};

/**
 * The note that a look-up shows: without `dpsDigest` when the DPS inside has another content than its digest says. Sefin's own
 * signature is not asked about, for what the look-up shows is what stands (ADR 27).
 */
export const readNoteOfLookup = (packed: string | undefined): AuthorizedNote | undefined => {
  const note = readNote(packed);
  if (note === undefined) return undefined;
  if (embeddedDigestFits(note.xml, ['infNFSe', 'DPS'], 'infDPS')) return note;
  const { signatureMark: _mark, ...unfit } = note;
  return { ...unfit, dpsDigest: '' };
};

/** The note that answers a send: undefined also when it is not what Sefin signed, and then looked up. */
export const readNoteOfSend = (packed: string | undefined): AuthorizedNote | undefined => {
  const note = readNoteOfLookup(packed);
  return note !== undefined && isIntact(note.xml, 'infNFSe') ? note : undefined;
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

/**
 * The cancellation event that a look-up shows, as `readNoteOfLookup` reads a note; undefined when it is another event or no event.
 */
export const readEventOfLookup = (packed: string | undefined): RegisteredEvent | undefined => {
  const xml = unpack(packed);
  const parsed = xml === undefined ? undefined : parseXml(xml);
  if (xml === undefined || parsed === undefined || !parsed.ok) return undefined;
  const request = 'evento/infEvento/pedRegEvento';
  const registeredAt = instantOf(textAt(parsed.root, 'evento/infEvento/dhProc'));
  const requestId = attributeAt(parsed.root, `${request}/infPedReg`, 'Id');
  const reason = textAt(parsed.root, `${request}/infPedReg/e${CANCELLATION_EVENT}/cMotivo`);
  if (registeredAt === undefined || requestId === undefined || reason === undefined) return undefined;
  const fits = embeddedDigestFits(xml, ['infEvento', 'pedRegEvento'], 'infPedReg');
  if (!fits) return { xml, registeredAt, requestId, requestDigest: '' };
  return {
    xml,
    registeredAt,
    requestId,
    requestDigest: digestAt(parsed.root, request),
    ...markAt(parsed.root, request),
  };
};

/** The event that answers a send: undefined also when it is not what Sefin signed, and then looked up. */
export const readEventOfSend = (packed: string | undefined): RegisteredEvent | undefined => {
  const event = readEventOfLookup(packed);
  return event !== undefined && isIntact(event.xml, 'infEvento') ? event : undefined;
};

/** A note with its signatures is 20 KB; the cap leaves room for every field at its longest. */
const MAX_DOCUMENT_BYTES = 1024 * 1024;

/** Base64 of gzip; the event look-up wraps it in base64 once more (openapi deviation 9). */
const unpack = (packed: string | undefined): Buffer | undefined => {
  if (packed === undefined) return undefined;
  const once = gunzipBase64(packed, MAX_DOCUMENT_BYTES);
  if (once.ok) return once.bytes;
  if (once.reason !== 'not_gzip') return undefined;
  const twice = gunzipBase64(Buffer.from(packed, 'base64').toString('latin1'), MAX_DOCUMENT_BYTES);
  return twice.ok ? twice.bytes : undefined;
};

const digestAt = (root: XmlValue, document: string): string =>
  textAt(root, `${document}/Signature/SignedInfo/Reference/DigestValue`)?.replace(/\s/g, '') ?? '';

const markAt = (root: XmlValue, document: string): { signatureMark?: string } => {
  const value = textAt(root, `${document}/Signature/SignatureValue`)?.replace(/\s/g, '') ?? '';
  return value === '' ? {} : { signatureMark: signatureMark(digestAt(root, document), value) };
};

const STAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?[-+]\d{2}:\d{2}$/;

const instantOf = (stamp: string | undefined): Instant | undefined => {
  if (stamp === undefined || !STAMP.test(stamp)) return undefined;
  const ms = Date.parse(stamp);
  return Number.isNaN(ms) ? undefined : instant(ms);
};
