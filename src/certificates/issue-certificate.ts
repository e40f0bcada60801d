import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import forge from 'node-forge';
import { epochMs, type Instant } from '../domain/common/time.js';
import { SIMULATED_ORGANIZATION } from './holder.js';

export type KeyAndCertificate = { privateKeyPem: string; certificatePem: string };

export type CertificateRequest = {
  /** Common name; with a `cnpj`, `:CNPJ` is appended as in real certificates. */
  subjectName: string;
  cnpj?: string;
  /** Default: says that the certificate is a simulation. */
  organization?: string;
  /** Absent: a self-signed certificate authority. */
  issuer?: KeyAndCertificate;
  /** DNS names or IP addresses: makes a server certificate. */
  serverNames?: readonly string[];
  validDays: number;
  now: Instant;
  /** Days before `now` from which the certificate is valid; default: one hour. */
  backdatedDays?: number;
};

/**
 * Makes an RSA 2048 key and its X.509 v3 certificate: an authority, a server's, or a client's shaped like an e-CNPJ
 * (docs/national-system.md#certificates). Only the simulator and tests, which are given its authority, trust it. Valid from one hour before `now`,
 * or from `backdatedDays` before, so that peers with a slow clock accept it.
 */
export const issueCertificate = (request: CertificateRequest): KeyAndCertificate => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const certificate = forge.pki.createCertificate();
  const publicPem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' });
  certificate.publicKey = forge.pki.publicKeyFromPem(publicPem.toString());
  certificate.serialNumber = freshSerial();
  certificate.validity.notBefore = new Date(
    epochMs(request.now) - Math.max((request.backdatedDays ?? 0) * 24 * HOUR_MS, HOUR_MS),
  );
  certificate.validity.notAfter = new Date(epochMs(request.now) + request.validDays * 24 * HOUR_MS);
  const subject = nameOf(request);
  const issuer = request.issuer === undefined ? undefined : forge.pki.certificateFromPem(request.issuer.certificatePem);
  certificate.setSubject(subject);
  certificate.setIssuer(issuer === undefined ? subject : subjectOf(issuer));
  certificate.setExtensions(extensionsOf(request, issuer));
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const signer = forge.pki.privateKeyFromPem(request.issuer?.privateKeyPem ?? pem);
  certificate.sign(signer, forge.md.sha256.create());
  return { privateKeyPem: pem, certificatePem: forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n') };
};

const HOUR_MS = 3_600_000;

/** 15 random bytes after a fixed first byte, so that the number is positive and DER needs no leading zero. */
const freshSerial = (): string => `4a${randomBytes(15).toString('hex')}`;

const nameOf = ({
  subjectName,
  cnpj,
  organization = SIMULATED_ORGANIZATION,
}: CertificateRequest): forge.pki.CertificateField[] => [
  { name: 'countryName', value: 'BR' },
  { name: 'organizationName', value: organization },
  {
    name: 'commonName',
    value: cnpj === undefined ? subjectName : `${subjectName}:${cnpj}`,
    // The typings lack string types here; node-forge takes the number of UTF8String.
    valueTagClass: forge.asn1.Type.UTF8 as unknown as forge.asn1.Class,
  },
];

/** node-forge reads UTF-8 values as bytes and encodes them again when it writes. Decoded here, issuer and subject match. */
const subjectOf = (issuer: forge.pki.Certificate): forge.pki.CertificateField[] =>
  issuer.subject.attributes.map((field) =>
    Number(field.valueTagClass) === forge.asn1.Type.UTF8 && typeof field.value === 'string'
      ? { ...field, value: forge.util.decodeUtf8(field.value) }
      : field,
  );

const extensionsOf = (
  { serverNames, cnpj }: CertificateRequest,
  issuer: forge.pki.Certificate | undefined,
): object[] => {
  if (issuer === undefined) {
    return [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, digitalSignature: true, critical: true },
      { name: 'subjectKeyIdentifier' },
    ];
  }
  const common = [
    { name: 'basicConstraints', cA: false, critical: true },
    { name: 'keyUsage', digitalSignature: true, nonRepudiation: true, keyEncipherment: true, critical: true },
    { name: 'subjectKeyIdentifier' },
    { name: 'authorityKeyIdentifier', keyIdentifier: issuer.generateSubjectKeyIdentifier().getBytes() },
  ];
  if (serverNames !== undefined) {
    const altNames = serverNames.map((name) => (IP.test(name) ? { type: 7, ip: name } : { type: 2, value: name }));
    return [...common, { name: 'extKeyUsage', serverAuth: true }, { name: 'subjectAltName', altNames }];
  }
  const usage = { name: 'extKeyUsage', clientAuth: true, emailProtection: true };
  return cnpj === undefined ? [...common, usage] : [...common, usage, { id: '2.5.29.17', value: cnpjAltName(cnpj) }];
};

const IP = /^[0-9.]+$|:/;

/** GeneralNames with one otherName: the OID, then a PrintableString below an explicit tag, as ICP-Brasil encodes it. */
const cnpjAltName = (cnpj: string): forge.asn1.Asn1 => {
  const { Class, Type, create, oidToDer } = forge.asn1;
  const oid = create(Class.UNIVERSAL, Type.OID, false, oidToDer('2.16.76.1.3.3').getBytes());
  const value = create(Class.UNIVERSAL, Type.PRINTABLESTRING, false, cnpj);
  const explicit = create(Class.CONTEXT_SPECIFIC, 0 as forge.asn1.Type, true, [value]);
  const otherName = create(Class.CONTEXT_SPECIFIC, 0 as forge.asn1.Type, true, [oid, explicit]);
  return create(Class.UNIVERSAL, Type.SEQUENCE, true, [otherName]);
};
