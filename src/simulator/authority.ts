import { randomUUID, X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { CertificateRequest, KeyAndCertificate } from '../certificates/issue-certificate.js';
import { DAY_MS, epochMs } from '../domain/common/time.js';
import { makeFolders, readIfThere } from '../lib/files.js';
import type { Clock } from './options.js';

const TEN_YEARS = 3650;

const AUTHORITY_NAME = 'AC SIMULADA';

/** True for the authority certificate of a simulator, on any folder. */
export const isSimulatorAuthority = (pem: string): boolean =>
  new X509Certificate(pem).subject.split('\n').includes(`CN=${AUTHORITY_NAME}`);

/** True for a certificate with which a simulator signs notes. */
export const isSignedBySimulator = ({ issuer }: X509Certificate): boolean =>
  issuer.split('\n').includes(`CN=${AUTHORITY_NAME}`);

const authorityFile = (folder: string): string => join(folder, 'ca.json');

/** True when `openAuthority` would make no authority in this folder. */
export const hasAuthority = (folder: string): boolean => existsSync(authorityFile(folder));

/** The authority of this folder, created at the first call. */
export const openAuthority = (folder: string, clock: Clock): Promise<KeyAndCertificate> =>
  readOrMake(authorityFile(folder), () =>
    issue({ subjectName: AUTHORITY_NAME, validDays: TEN_YEARS, now: clock.now() }),
  );

/** PEM of the trust root of the simulator on this folder, also before its first start. */
export const simulatorAuthority = async (folder: string, clock: Clock): Promise<string> =>
  (await openAuthority(folder, clock)).certificatePem;

/** Imported on use: few starts make a certificate, and its package takes a part of a start to load. */
const issue = async (request: CertificateRequest): Promise<KeyAndCertificate> => {
  const { issueCertificate } = await import('../certificates/issue-certificate.js');
  return issueCertificate(request);
};

/**
 * Both identities of a simulator on this folder. A service makes them before it starts the simulator, because making keys takes a second on a slow
 * machine.
 */
export const openIdentities = async (
  folder: string,
  serverNames: readonly string[],
  clock: Clock,
): Promise<{ authority: KeyAndCertificate; server: KeyAndCertificate }> => {
  const authority = await openAuthority(folder, clock);
  const names = [...new Set([...LOOPBACK_NAMES, ...serverNames])];
  return { authority, server: await openServerIdentity(folder, authority, names, clock) };
};

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '::1'];

/** The server's certificate, which also signs NFS-e and `evento`. Created again when its names or its validity do not fit. */
export const openServerIdentity = async (
  folder: string,
  authority: KeyAndCertificate,
  names: readonly string[],
  clock: Clock,
): Promise<KeyAndCertificate> => {
  const path = join(folder, 'server.json');
  const make = () =>
    issue({
      subjectName: 'assinador.simulado.invalid',
      issuer: authority,
      serverNames: names,
      validDays: TEN_YEARS,
      now: clock.now(),
    });
  const stored = await readOrMake(path, make);
  if (fits(stored, names, clock)) return stored;
  await rm(path, { force: true });
  return readOrMake(path, make);
};

/**
 * A throwaway e-CNPJ that only the simulator of this folder accepts; `caPem` is the trust root of that simulator's server. Works while the
 * simulator runs and before its first start.
 */
export const issueClientCertificate = async (
  folder: string,
  { cnpj, name, clock }: { cnpj: string; name: string; clock: Clock },
): Promise<KeyAndCertificate & { caPem: string }> => {
  const authority = await openAuthority(folder, clock);
  const client = await issue({
    subjectName: name,
    cnpj,
    issuer: authority,
    validDays: 365,
    now: clock.now(),
    // The authorizer's clock may be set back by ten years, and then judges what the certificate has signed.
    backdatedDays: TEN_YEARS + 1,
  });
  return { ...client, caPem: authority.certificatePem };
};

const fits = ({ certificatePem }: KeyAndCertificate, names: readonly string[], clock: Clock): boolean => {
  const certificate = new X509Certificate(certificatePem);
  const inAMonth = epochMs(clock.now()) + 30 * DAY_MS;
  return (
    Date.parse(certificate.validTo) > inAMonth &&
    names.every((name) => (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined)
  );
};

/** Two processes may create the file at the same time: `link` succeeds for one, and the other reads the file. */
const readOrMake = async (path: string, make: () => Promise<KeyAndCertificate>): Promise<KeyAndCertificate> => {
  const stored = await read(path);
  if (stored !== undefined) return stored;
  await makeFolders(join(path, '..'), 0o700);
  const made = await make();
  const fresh = `${path}.${randomUUID()}`;
  await writeFile(fresh, JSON.stringify(made), { flag: 'wx', mode: 0o600, flush: true });
  try {
    await link(fresh, path);
    return made;
  } catch (error) {
    const winner = await read(path);
    if (winner === undefined) throw error;
    return winner;
  } finally {
    await rm(fresh, { force: true });
  }
};

const read = async (path: string): Promise<KeyAndCertificate | undefined> => {
  const text = await readIfThere(path);
  if (text === undefined) return undefined;
  const { privateKeyPem, certificatePem } = JSON.parse(text) as Partial<KeyAndCertificate>;
  if (privateKeyPem === undefined || certificatePem === undefined) throw new Error(`not an identity: ${path}`);
  return { privateKeyPem, certificatePem };
};
