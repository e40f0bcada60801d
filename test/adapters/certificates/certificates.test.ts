import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import forge from 'node-forge';
import { beforeAll, describe, expect, it } from 'vitest';
import { cnpjOf } from '../../../src/certificates/holder.js';
import { issueCertificate, type KeyAndCertificate } from '../../../src/certificates/issue-certificate.js';
import { readPkcs12 } from '../../../src/certificates/read-pkcs12.js';
import { itWith } from '../../support/needs.js';
import { sample } from '../../support/samples.js';

const now = '2026-11-21T12:00:00.000Z';
const cnpj = '12345678000195';
const password = 'segredo';

let authority: KeyAndCertificate;
let company: KeyAndCertificate;

beforeAll(() => {
  authority = issueCertificate({ subjectName: 'Autoridade de Simulação', validDays: 30, now });
  company = issueCertificate({ subjectName: 'EMPRESA', cnpj, issuer: authority, validDays: 10, now });
});

/** A PFX by node-forge; `certificates` in the order of the file. */
const pfxOf = (key: string | null, certificates: readonly string[], algorithm: 'aes256' | '3des' = '3des'): Buffer => {
  const privateKey = key === null ? null : forge.pki.privateKeyFromPem(key);
  const bags = certificates.map((pem) => forge.pki.certificateFromPem(pem));
  const asn1 = forge.pkcs12.toPkcs12Asn1(privateKey, bags, password, { algorithm });
  return Buffer.from(forge.asn1.toDer(asn1).getBytes(), 'binary');
};

const opensslPfx = (...flags: readonly string[]): Buffer => {
  const folder = mkdtempSync(join(tmpdir(), 'pfx-'));
  writeFileSync(join(folder, 'key.pem'), company.privateKeyPem);
  writeFileSync(join(folder, 'leaf.pem'), company.certificatePem);
  writeFileSync(join(folder, 'chain.pem'), authority.certificatePem);
  const files = ['-inkey', 'key.pem', '-in', 'leaf.pem', '-certfile', 'chain.pem', '-out', 'made.pfx'];
  const args = ['pkcs12', '-export', ...flags, ...files, '-passout', `pass:${password}`];
  execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  return readFileSync(join(folder, 'made.pfx'));
};

const isOurs = (pfx: Buffer): void => {
  const opened = readPkcs12(pfx, password);
  if (!opened.ok) throw new Error(opened.reason);
  const leaf = new X509Certificate(company.certificatePem);
  expect(opened.certificate).toEqual({
    privateKeyPem: company.privateKeyPem,
    certificatePem: company.certificatePem,
    chainPem: [authority.certificatePem],
    cnpj,
    notBefore: '2026-11-21T11:00:00.000Z',
    notAfter: '2026-12-01T12:00:00.000Z',
    fingerprint: leaf.fingerprint256.replaceAll(':', '').toLowerCase(),
  });
};

describe('readPkcs12', () => {
  it('reads modern and 3DES files, the leaf wherever it stands', () => {
    isOurs(pfxOf(company.privateKeyPem, [company.certificatePem, authority.certificatePem], 'aes256'));
    isOurs(pfxOf(company.privateKeyPem, [authority.certificatePem, company.certificatePem], '3des'));
  });

  itWith('openssl', 'reads what openssl writes, modern and legacy RC2', () => {
    isOurs(opensslPfx());
    isOurs(opensslPfx('-legacy'));
  });

  it('names what is wrong', () => {
    const { privateKeyPem, certificatePem } = company;
    const pfx = pfxOf(privateKeyPem, [certificatePem]);
    expect(readPkcs12(pfx, 'outra')).toEqual({ ok: false, reason: 'wrong_password' });
    expect(readPkcs12(Buffer.from('nothing'), password)).toEqual({ ok: false, reason: 'not_pkcs12' });
    expect(readPkcs12(Buffer.alloc(0), password)).toEqual({ ok: false, reason: 'not_pkcs12' });
    expect(readPkcs12(pfx.subarray(0, 500), password)).toEqual({ ok: false, reason: 'not_pkcs12' });
    expect(readPkcs12(pfxOf(null, [certificatePem]), password)).toEqual({ ok: false, reason: 'no_private_key' });
    const strangerOnly = pfxOf(privateKeyPem, [authority.certificatePem]);
    expect(readPkcs12(strangerOnly, password)).toEqual({ ok: false, reason: 'no_certificate' });
    const person = issueCertificate({ subjectName: 'MARIA', issuer: authority, validDays: 1, now });
    const noCnpj = pfxOf(person.privateKeyPem, [person.certificatePem]);
    expect(readPkcs12(noCnpj, password)).toEqual({ ok: false, reason: 'no_cnpj' });
  });
});

describe('cnpjOf', () => {
  const der = ({ certificatePem }: KeyAndCertificate): Buffer => new X509Certificate(certificatePem).raw;

  it('reads the extension of ICP-Brasil', () => {
    expect(cnpjOf(der(company))).toBe(cnpj);
  });

  itWith('samples', 'reads the extension in a sample', () => {
    const inSample = /<X509Certificate>([^<]+)/.exec(sample('dps-01-me-epp-tomador-pj.xml').toString('utf8'))?.[1];
    expect(cnpjOf(Buffer.from(inSample ?? '', 'base64'))).toBe(cnpj);
  });

  it('falls back to the common name', () => {
    const named = issueCertificate({ subjectName: `LOJA É AQUI:${cnpj}`, issuer: authority, validDays: 1, now });
    expect(cnpjOf(der(named))).toBe(cnpj);
  });

  it('reads none elsewhere', () => {
    expect(cnpjOf(der(authority))).toBeUndefined();
    expect(cnpjOf(Buffer.from('nothing'))).toBeUndefined();
  });
});

describe('issueCertificate', () => {
  it('chains to its issuer, accents and all', () => {
    const leaf = new X509Certificate(company.certificatePem);
    const root = new X509Certificate(authority.certificatePem);
    expect(leaf.checkIssued(root)).toBe(true);
    expect(leaf.verify(root.publicKey)).toBe(true);
    expect([leaf.ca, root.ca]).toEqual([false, true]);
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2', '1.3.6.1.5.5.7.3.4']);
  });

  it('makes server certificates for names and addresses', () => {
    const serverNames = ['localhost', '127.0.0.1'];
    const made = issueCertificate({ subjectName: 'sefin', issuer: authority, serverNames, validDays: 1, now });
    const server = new X509Certificate(made.certificatePem);
    expect(server.checkHost('localhost')).toBe('localhost');
    expect(server.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(server.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  });

  it('gives every certificate a serial of its own', () => {
    const again = issueCertificate({ subjectName: 'EMPRESA', cnpj, issuer: authority, validDays: 10, now });
    const serials = [company, again].map(({ certificatePem }) => new X509Certificate(certificatePem).serialNumber);
    expect(new Set(serials).size).toBe(2);
  });

  itWith('openssl', 'is a chain for openssl too', () => {
    const folder = mkdtempSync(join(tmpdir(), 'chain-'));
    writeFileSync(join(folder, 'ca.pem'), authority.certificatePem);
    writeFileSync(join(folder, 'leaf.pem'), company.certificatePem);
    const at = String(Date.parse(now) / 1000);
    const args = ['verify', '-x509_strict', '-purpose', 'sslclient', '-attime', at, '-CAfile', 'ca.pem', 'leaf.pem'];
    expect(execFileSync('openssl', args, { cwd: folder, encoding: 'utf8' })).toContain('OK');
  });
});
