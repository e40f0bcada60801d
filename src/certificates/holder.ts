import { createHash, X509Certificate } from 'node:crypto';
import asn1 from 'node-forge/lib/asn1.js';
import { instant } from '../domain/common/time.js';
import type { CertificateFacts } from '../domain/company/events.js';
import { bytesOf, extensionOf, listOf, type Node, oidOf, tbsOf } from './der.js';

type LeafFacts = Omit<CertificateFacts, 'certificateId'> & { cnpj: string | undefined };

/** What a leaf certificate (PEM) says. `fingerprint`: SHA-256 of its DER, hex. Undefined when the times of its validity cannot be read. */
export const leafFacts = (pem: string): LeafFacts | undefined => {
  const { raw, validFrom, validTo } = new X509Certificate(pem);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  if (Number.isNaN(from) || Number.isNaN(to)) return undefined;
  return {
    cnpj: cnpjOf(raw),
    notBefore: instant(from),
    notAfter: instant(to),
    fingerprint: createHash('sha256').update(raw).digest('hex'),
  };
};

/** The organization in names of the simulator's authority and its certificates; no authority of ICP-Brasil has it. */
export const SIMULATED_ORGANIZATION = 'SIMULACAO - NAO ICP-Brasil';

/** Whether an authority of a simulator issued the certificate (PEM). */
export const isForSimulator = (pem: string): boolean =>
  new X509Certificate(pem).issuer.split('\n').includes(`O=${SIMULATED_ORGANIZATION}`);

/**
 * CNPJ of a certificate's holder: otherName 2.16.76.1.3.3 of subjectAltName or, in a certificate without that name, the tail of a common name
 * `NAME:CNPJ` (docs/national-system.md#certificates). Undefined for any other certificate and for unreadable bytes.
 */
export const cnpjOf = (certificateDer: Buffer): string | undefined => {
  try {
    const tbs = tbsOf(certificateDer);
    // Beside an otherName that is malformed the common name may be of another company.
    return altNames(tbs).length > 0 ? cnpjInAltName(tbs) : cnpjInCommonName(tbs);
  } catch {
    return undefined;
  }
};

/** Whether a certificate (PEM) has an otherName for a CNPJ, and none of them holds one. */
export const hasMalformedCnpj = (pem: string): boolean => {
  const tbs = tbsOf(new X509Certificate(pem).raw);
  return altNames(tbs).length > 0 && cnpjInAltName(tbs) === undefined;
};

/** Whether a certificate has the otherName of an e-CPF. Throws for bytes that are no certificate. */
export const isOfPerson = (certificateDer: Buffer): boolean => altNames(tbsOf(certificateDer), ICP_CPF).length > 0;

const CNPJ = /^[0-9A-Z]{12}[0-9]{2}$/;
const ICP_CNPJ = '2.16.76.1.3.3';
const ICP_CPF = '2.16.76.1.3.1';
const SUBJECT_ALT_NAME = '2.5.29.17';
const COMMON_NAME = '2.5.4.3';

/** CNPJ of the otherName alone, which is where the national system looks for it (E1209). */
export const cnpjInAltName = (tbs: readonly Node[]): string | undefined =>
  altNames(tbs).find((text) => CNPJ.test(text));

/** The text of each otherName of this kind. */
const altNames = (tbs: readonly Node[], id = ICP_CNPJ): readonly string[] => {
  const altName = extensionOf(tbs, SUBJECT_ALT_NAME);
  if (altName === undefined) return [];
  return listOf(asn1.fromDer(altName)).flatMap((name) => {
    const [kind, value] = listOf(name);
    return oidOf(kind) === id ? [innermost(value)] : [];
  });
};

/** The subject is the name after the validity, whose two members are times. */
const cnpjInCommonName = (tbs: readonly Node[]): string | undefined => {
  const validity = tbs.findIndex((field) => isTime(listOf(field)[0]));
  for (const set of listOf(tbs[validity + 1])) {
    const [oid, value] = listOf(listOf(set)[0]);
    const tail = bytesOf(value).split(':').at(-1) ?? '';
    if (oidOf(oid) === COMMON_NAME && bytesOf(value).includes(':') && CNPJ.test(tail)) return tail;
  }
  return undefined;
};

const isTime = (node: Node | undefined): boolean =>
  node?.tagClass === asn1.Class.UNIVERSAL &&
  (node.type === asn1.Type.UTCTIME || node.type === asn1.Type.GENERALIZEDTIME);

/** Authorities write the value as PrintableString, UTF8String or OCTET STRING, below one explicit tag. */
const innermost = (node: Node | undefined): string => {
  const [inner] = listOf(node);
  return inner === undefined ? bytesOf(node) : innermost(inner);
};
