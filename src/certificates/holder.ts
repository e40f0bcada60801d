import { createHash, X509Certificate } from 'node:crypto';
import type forge from 'node-forge';
import asn1 from 'node-forge/lib/asn1.js';
import { type Instant, instant } from '../domain/common/time.js';

type LeafFacts = { cnpj: string | undefined; notBefore: Instant; notAfter: Instant; fingerprint: string };

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
 * CNPJ of a certificate's holder: otherName 2.16.76.1.3.3 of subjectAltName, else the tail of a common name `NAME:CNPJ`
 * (docs/national-system.md#certificates). Undefined for any other certificate and for unreadable bytes.
 */
export const cnpjOf = (certificateDer: Buffer): string | undefined => {
  try {
    const certificate = asn1.fromDer(certificateDer.toString('binary'));
    const tbs = listOf(listOf(certificate)[0]);
    return cnpjInAltName(tbs) ?? cnpjInCommonName(tbs);
  } catch {
    return undefined;
  }
};

type Node = forge.asn1.Asn1;

const CNPJ = /^[0-9A-Z]{12}[0-9]{2}$/;
const ICP_CNPJ = '2.16.76.1.3.3';
const SUBJECT_ALT_NAME = '2.5.29.17';
const COMMON_NAME = '2.5.4.3';

const cnpjInAltName = (tbs: readonly Node[]): string | undefined => {
  const wrapper = tbs.find(({ tagClass, type }) => tagClass === asn1.Class.CONTEXT_SPECIFIC && Number(type) === 3);
  for (const extension of listOf(listOf(wrapper)[0])) {
    const [oid, ...rest] = listOf(extension);
    if (oidOf(oid) !== SUBJECT_ALT_NAME) continue;
    for (const name of listOf(asn1.fromDer(bytesOf(rest.at(-1))))) {
      const [kind, value] = listOf(name);
      const cnpj = innermost(value);
      if (oidOf(kind) === ICP_CNPJ && CNPJ.test(cnpj)) return cnpj;
    }
  }
  return undefined;
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

const listOf = (node: Node | undefined): readonly Node[] =>
  node !== undefined && Array.isArray(node.value) ? node.value : [];

const bytesOf = (node: Node | undefined): string => (typeof node?.value === 'string' ? node.value : '');

const oidOf = (node: Node | undefined): string =>
  node?.type === asn1.Type.OID && node.tagClass === asn1.Class.UNIVERSAL ? asn1.derToOid(bytesOf(node)) : '';

/** Authorities write the value as PrintableString, UTF8String or OCTET STRING, below one explicit tag. */
const innermost = (node: Node | undefined): string => {
  const [inner] = listOf(node);
  return inner === undefined ? bytesOf(node) : innermost(inner);
};
