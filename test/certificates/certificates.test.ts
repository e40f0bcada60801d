import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { cnpjOf, isForSimulator } from '../../src/certificates/holder.js';
import { issueCertificate, type KeyAndCertificate } from '../../src/certificates/issue-certificate.js';
import { readPkcs12 } from '../../src/certificates/read-pkcs12.js';
import { endlessPfxOf, keysPfxOf, pfxOf as makePfx, plainPfxOf } from '../support/fixture/pfx.js';
import { certificateOfKey, cnpjNamesOf, withoutReadableEnd } from '../support/fixture/rsa-keys.js';
import { sample } from '../support/fixture/samples.js';
import { itWith } from '../support/needs.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const now = '2026-11-21T12:00:00.000Z';
const cnpj = '12345678000195';
const password = 'segredo';

let authority: KeyAndCertificate;
let company: KeyAndCertificate;

beforeAll(() => {
  authority = issueCertificate({ subjectName: 'Autoridade de Simulação', validDays: 30, now });
  company = issueCertificate({ subjectName: 'EMPRESA', cnpj, issuer: authority, validDays: 10, now });
});

it('is told for a simulator by the organization of the authority that issued it', () => {
  const official = issueCertificate({ subjectName: 'AC Oficial', organization: 'ICP-Brasil', validDays: 30, now });
  const named = { subjectName: 'EMPRESA', cnpj, validDays: 10, now };
  const [bought, odd] = [{ organization: 'ICP-Brasil' }, {}].map((more) =>
    issueCertificate({ ...named, ...more, issuer: official }),
  );
  expect([company, bought, odd].map((one) => isForSimulator(one?.certificatePem ?? ''))).toEqual([true, false, false]);
});

const pfxOf = (key: string | null, certificates: readonly string[], algorithm: 'aes256' | '3des' = '3des'): Buffer =>
  makePfx(key, certificates, { password, algorithm });

const opensslPfx = (flags: readonly string[] = [], secret = password): Buffer => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'key.pem'), company.privateKeyPem);
  writeFileSync(join(folder, 'leaf.pem'), company.certificatePem);
  writeFileSync(join(folder, 'chain.pem'), authority.certificatePem);
  const files = ['-inkey', 'key.pem', '-in', 'leaf.pem', '-certfile', 'chain.pem', '-out', 'made.pfx'];
  const args = ['pkcs12', '-export', ...flags, ...files, '-passout', `pass:${secret}`];
  execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  return readFileSync(join(folder, 'made.pfx'));
};

/** An authority with an elliptic key, a company's RSA certificate by it, and both in a PFX; or the authority's own PFX. */
const ellipticPfx = (whose: 'company' | 'authority'): Buffer => {
  const folder = temporaryFolder();
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp384r1', '-nodes'];
  openssl('req', '-x509', ...ec, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=AC', '-days', '9');
  writeFileSync(join(folder, 'key.pem'), company.privateKeyPem);
  openssl('req', '-new', '-key', 'key.pem', '-subj', `/CN=EMPRESA:${cnpj}`, '-out', 'leaf.csr');
  openssl(
    'x509',
    '-req',
    '-in',
    'leaf.csr',
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-out',
    'leaf.pem',
  );
  const own = ['-inkey', 'key.pem', '-in', 'leaf.pem', '-certfile', 'ca.pem'];
  const files = whose === 'company' ? own : ['-inkey', 'ca.key', '-in', 'ca.pem'];
  openssl('pkcs12', '-export', ...files, '-out', 'made.pfx', '-passout', `pass:${password}`);
  return readFileSync(join(folder, 'made.pfx'));
};

const isOurs = (pfx: Buffer, secret = password): void => {
  const opened = readPkcs12(pfx, secret);
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
    isOurs(opensslPfx(['-legacy']));
    isOurs(opensslPfx(['-nomac']));
    isOurs(opensslPfx(['-macalg', 'sha384']));
    isOurs(opensslPfx(['-legacy', '-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES']));
  });

  itWith('openssl', 'takes passwords that are empty or not ASCII, in modern and legacy files', () => {
    isOurs(opensslPfx([], ''), '');
    isOurs(opensslPfx([], 'maçã é boa'), 'maçã é boa');
    isOurs(opensslPfx(['-legacy'], 'maçã é boa'), 'maçã é boa');
    expect(readPkcs12(opensslPfx([], 'maçã'), 'maca')).toEqual({ ok: false, reason: 'wrong_password' });
    expect(readPkcs12(opensslPfx([], 'maçã'), 'maçâ')).toEqual({ ok: false, reason: 'wrong_password' });
    expect(readPkcs12(Buffer.from('nothing'), 'maçã')).toEqual({ ok: false, reason: 'not_pkcs12' });
  });

  itWith('openssl', 'keeps a chain whose authority has an elliptic key', () => {
    const opened = readPkcs12(ellipticPfx('company'), password);
    if (!opened.ok) throw new Error(opened.reason);
    const { certificatePem, chainPem, privateKeyPem } = opened.certificate;
    expect([opened.certificate.cnpj, privateKeyPem]).toEqual([cnpj, company.privateKeyPem]);
    expect(chainPem.map((pem) => new X509Certificate(pem).subject)).toEqual(['CN=AC']);
    expect(new X509Certificate(certificatePem).checkIssued(new X509Certificate(chainPem[0] ?? ''))).toBe(true);
  });

  itWith('openssl', 'names a key that is not RSA, and algorithms that it does not know', () => {
    expect(readPkcs12(ellipticPfx('authority'), password)).toEqual({ ok: false, reason: 'not_rsa' });
    const unsupported = { ok: false, reason: 'unsupported_algorithm' };
    const camellia = ['-keypbe', 'camellia-256-cbc', '-certpbe', 'camellia-256-cbc'];
    expect(readPkcs12(opensslPfx(camellia), password)).toEqual(unsupported);
    expect(readPkcs12(opensslPfx(['-macalg', 'ripemd160']), password)).toEqual(unsupported);
  });

  itWith('openssl', 'refuses more than two million rounds of the password, wherever the file asks for them', () => {
    const refused = { ok: false, reason: 'too_many_rounds' };
    isOurs(opensslPfx(['-nomac', '-iter', '50000']));
    expect(readPkcs12(opensslPfx(['-nomac', '-iter', '1000001']), password)).toEqual(refused);
    const keyAlone = ['-legacy', '-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'NONE', '-nomac', '-iter', '2000001'];
    expect(readPkcs12(opensslPfx(keyAlone), password)).toEqual(refused);
  });

  it('refuses a MAC of many hours before it is computed, also for a password that is not ASCII', () => {
    const endless = endlessPfxOf(company.privateKeyPem, [company.certificatePem], { password });
    expect(readPkcs12(endless, password)).toEqual({ ok: false, reason: 'too_many_rounds' });
    expect(readPkcs12(endless, 'maçã')).toEqual({ ok: false, reason: 'too_many_rounds' });
  });

  it.each(['none', '3des', 'aes256'] as const)('adds up the rounds of all keys of a part, seal: %s', (seal) => {
    const read = (bags: number, rounds: number) =>
      readPkcs12(keysPfxOf(company.privateKeyPem, { password, bags, rounds, seal }), password);
    expect(read(1, 1)).toEqual({ ok: false, reason: 'no_certificate' });
    expect(read(1, 2_000_001)).toEqual({ ok: false, reason: 'too_many_rounds' });
    expect(read(3, 700_000)).toEqual({ ok: false, reason: 'too_many_rounds' });
  });

  it('sees the rounds within a part that only the UTF-8 of the password opens', () => {
    const utf8 = { password: Buffer.from('maçã').toString('binary'), seal: 'aes256' } as const;
    const read = (rounds: number) => readPkcs12(keysPfxOf(company.privateKeyPem, { ...utf8, bags: 1, rounds }), 'maçã');
    expect(read(1)).toEqual({ ok: false, reason: 'no_certificate' });
    expect(read(2_000_001)).toEqual({ ok: false, reason: 'too_many_rounds' });
  });

  it('refuses more than 1 MiB, whatever it is', () => {
    const { privateKeyPem, certificatePem } = company;
    const padded = (bytes: number) => readPkcs12(Buffer.alloc(bytes, pfxOf(privateKeyPem, [certificatePem])), password);
    expect(padded(1_048_577)).toEqual({ ok: false, reason: 'too_large' });
    expect(padded(1_048_576)).toEqual({ ok: false, reason: 'not_pkcs12' });
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
    const noEnd = plainPfxOf(privateKeyPem, withoutReadableEnd(certificatePem));
    expect(readPkcs12(noEnd, password)).toEqual({ ok: false, reason: 'unreadable_validity' });
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

  /** The common name names another company. */
  const withNames = (...texts: readonly string[]): string =>
    certificateOfKey(company.privateKeyPem, { cnpj: '11222333000181', now, extensions: [cnpjNamesOf(...texts)] });

  it.each([` ${cnpj}`, '12.345.678/0001-95', '1234567800019', ''])(
    'takes no common name in place of the malformed otherName "%s", and the file is refused',
    (text) => {
      const pem = withNames(text);
      expect(cnpjOf(new X509Certificate(pem).raw)).toBeUndefined();
      const refused = { ok: false, reason: 'malformed_cnpj' };
      expect(readPkcs12(pfxOf(company.privateKeyPem, [pem]), password)).toEqual(refused);
    },
  );

  it('reads the well-formed one of two otherNames', () => {
    expect(cnpjOf(new X509Certificate(withNames(` ${cnpj}`, cnpj)).raw)).toBe(cnpj);
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
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'ca.pem'), authority.certificatePem);
    writeFileSync(join(folder, 'leaf.pem'), company.certificatePem);
    const at = String(Date.parse(now) / 1000);
    const args = ['verify', '-x509_strict', '-purpose', 'sslclient', '-attime', at, '-CAfile', 'ca.pem', 'leaf.pem'];
    expect(execFileSync('openssl', args, { cwd: folder, encoding: 'utf8' })).toContain('OK');
  });
});
