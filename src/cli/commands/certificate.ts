import { isUtf8 } from 'node:buffer';
import { putCertificate, removeStoredCertificates } from '../../app/operator/company/company-commands.js';
import type { ProfileFault } from '../../certificates/profile.js';
import type { Pkcs12Fault } from '../../certificates/read-pkcs12.js';
import { haveSameRoot } from '../../domain/common/cnpj.js';
import { type CompanyId, invoicePrefix, modes } from '../../domain/common/ids.js';
import { type Instant, isBefore } from '../../domain/common/time.js';
import type { KeyFault } from '../../domain/company/events.js';
import { counted } from '../../lib/counted.js';
import type { CompanyCertificate } from '../../ports/certificate-vault.js';
import { badUsage, type Command, done, type Outcome, refused, textFlag, warned } from '../command.js';
import { readOperatorFile } from '../flags.js';
import { invoiceRowsUpTo, tellRowsBehind } from '../rows-behind.js';
import type { Session } from '../session.js';

/** What is wrong with the key of a certificate, for operators. */
export const KEY_FAULTS: Record<KeyFault, string> = {
  key_size: 'its RSA key has fewer than 2,048 or more than 4,096 bits',
  key_exponent: 'the public exponent of its RSA key is not 65,537',
  key_broken: 'its private key does not sign for the certificate',
};

/** The command that stores a company's certificate, as the cure of a check names it. */
export const putCertificateCommand = (companyId: CompanyId): string =>
  `nfse certificate put ${companyId} --pfx FILE --password-file FILE`;

const put: Command = {
  name: 'certificate put',
  positionals: ['CNPJ'],
  summary: 'store an A1 certificate (.pfx, modern or legacy), encrypted',
  options: {
    pfx: { value: 'FILE', help: 'the PKCS#12 file', required: true },
    'password-file': { value: 'FILE', help: 'a file that holds its password', required: true },
  },
  changes: true,
  run: async ({ positionals: [cnpj = ''], flags, actor, session, terminal }) => {
    const pfx = await readOperatorFile(textFlag(flags, 'pfx') ?? '');
    if ('problem' in pfx) return badUsage(pfx.problem);
    const password = await readOperatorFile(textFlag(flags, 'password-file') ?? '');
    if ('problem' in password) return badUsage(password.problem);
    const secret = passwordIn(password.bytes);
    if (secret === undefined) return badUsage(NOT_UTF8);
    const { readPkcs12 } = await import('../../certificates/read-pkcs12.js');
    // Before a session, which may hold the lock of the data folder: a file may take a minute to open.
    const read = readPkcs12(pfx.bytes, secret);
    if (!read.ok) return notStored(REASONS[read.reason]);
    const opened = await session();
    const now = opened.clock.now();
    const certificate = bestFor(cnpj, [read.certificate, ...read.others], now) ?? read.certificate;
    const refusal = unfit(certificate, cnpj, now);
    if (refusal !== undefined) return notStored(`${refusal}${read.others.length === 0 ? '' : NONE_OF_SEVERAL}`);
    await tellRowsBehind(opened, terminal, ['companies']);
    return await store(cnpj, certificate, actor, opened);
  },
};

/** The text of a password file, without a byte order mark and the line ends that editors add; undefined for another encoding than UTF-8. */
const passwordIn = (bytes: Buffer): string | undefined =>
  isUtf8(bytes) && !bytes.includes(0)
    ? bytes
        .toString('utf8')
        .replace(/^\uFEFF/, '')
        .replace(/[\r\n]+$/, '')
    : undefined;

const NOT_UTF8 =
  'the password file is not UTF-8 text, so the password cannot be read: save it as UTF-8 (Notepad and PowerShell write other encodings)';

const issueDemo: Command = {
  name: 'certificate issue-demo',
  positionals: ['CNPJ'],
  summary: 'make a throwaway certificate that only the simulator accepts',
  changes: true,
  run: async ({ positionals: [cnpj = ''], actor, session, terminal }) => {
    const opened = await session();
    await tellRowsBehind(opened, terminal, ['companies']);
    const company = await opened.readModel.company(cnpj);
    if (company === undefined) return notRegistered(cnpj);
    const issued = await opened.issueDemoCertificate(cnpj, company.registration.legalName, actor);
    return 'refused' in issued ? refused(issued.refused) : await store(cnpj, issued.done, actor, opened);
  },
};

const remove: Command = {
  name: 'certificate remove',
  positionals: ['CNPJ'],
  summary: 'take the certificate of a disabled company out of the database, with all that it replaced',
  options: {
    replaced: { help: 'only those that a newer one replaced; the company may be enabled' },
    'despite-open': { help: 'also while look-ups of open invoices or cancellations need it' },
  },
  changes: true,
  run: async ({ positionals: [cnpj = ''], flags, actor, session }) => {
    const opened = await session();
    const which = flags.replaced === true ? 'replaced' : 'all';
    const open = which === 'all' ? await openOutcomes(cnpj, opened) : undefined;
    if (open !== undefined && flags['despite-open'] !== true) {
      return refused(`nothing was removed: ${open}. Wait for them, or add --despite-open`);
    }
    const result = await removeStoredCertificates(cnpj, which, opened.vault, opened.companyDeps(actor));
    if ('refused' in result) return refused(result.refused);
    const removed = counted(result.done, which === 'replaced' ? 'replaced certificate' : 'certificate');
    const warnings = open === undefined ? [] : [open];
    const text = `${removed} of ${cnpj} removed; backups made before still hold what was removed`;
    return done(warned(text, warnings), {
      cnpj,
      removed: result.done,
      warnings,
    });
  },
};

/** How much work of the company ends without its true outcome unless a certificate comes back, or that this is not known; undefined for none. */
const openOutcomes = async (companyId: CompanyId, opened: Session): Promise<string | undefined> => {
  if (await hasUnseenEvents(companyId, opened)) {
    return 'the newest events of the company are in no row yet, so its open outcomes are not known; nfse projections status';
  }
  const { supportReads } = opened;
  const statuses = ['queued', 'processing', 'indeterminate'] as const;
  const invoices = await countOf('invoice', statuses, (status) => supportReads.newest({ companyId, status }, MOST));
  const cancellations = await countOf('cancellation', ['pending'] as const, (cancellation) =>
    supportReads.newest({ companyId, cancellation }, MOST),
  );
  const open = [...invoices, ...cancellations];
  if (open.length === 0) return undefined;
  return `${open.join(' and ')} of the company had no known outcome: what was sent cannot be looked up without a certificate; nfse invoice list --company ${companyId}`;
};

/** Whether the log has events of the company's invoices that the projection of invoices has not handled. */
const hasUnseenEvents = async (companyId: CompanyId, opened: Session): Promise<boolean> => {
  const prefixes = modes.map((mode) => `${invoicePrefix[mode]}${companyId}_`);
  const after = await invoiceRowsUpTo(opened);
  return (await opened.log.readAll({ prefixes, after, limit: 1 })).length > 0;
};

/** `3 invoices`, `100 or more invoices` when a status has more than are read, or nothing. */
const countOf = async <T>(
  name: string,
  statuses: readonly T[],
  read: (status: T) => Promise<readonly unknown[]>,
): Promise<readonly string[]> => {
  const found = await Promise.all(statuses.map(read));
  const count = found.flat().length;
  if (count === 0) return [];
  return [found.some(({ length }) => length === MOST) ? `${count} or more ${name}s` : counted(count, name)];
};

const MOST = 100;

export const certificateCommands: readonly Command[] = [put, issueDemo, remove];

const REASONS: Record<Pkcs12Fault, string> = {
  wrong_password: 'the password is wrong',
  not_pkcs12: 'the file is not PKCS#12: hand over the .pfx or .p12 file, not a .cer, .pem or a picture of one',
  unsupported_algorithm:
    'the file is sealed with an algorithm that is not supported: export it again from the browser or Windows, with AES or 3DES',
  too_large: 'it is larger than 1 MiB: export it again, with the certificate, its private key and its chain only',
  too_many_rounds:
    'it asks for more than 2,000,000 rounds of its password: export it again from the browser or Windows, with their usual count',
  no_private_key: 'it holds no private key: export it again, with the private key',
  not_rsa: 'its key is not RSA, and invoices are signed with RSA: get an A1 certificate with an RSA key',
  no_certificate: 'it holds no certificate of its private key: export it again, with the certificate',
  key_size: `${KEY_FAULTS.key_size}: get an A1 certificate with an RSA key of 2,048 bits`,
  key_exponent: `${KEY_FAULTS.key_exponent}: get another A1 certificate from the authority`,
  key_broken: `${KEY_FAULTS.key_broken}: export it again, with the private key, or get another one from the authority`,
  unreadable_validity: 'its validity cannot be read: get another one from the authority',
  no_cnpj: 'its holder has no CNPJ: an e-CNPJ of the company is needed, not an e-CPF',
  malformed_cnpj:
    'its otherName 2.16.76.1.3.3 holds no CNPJ of 14 characters, and only there the national system looks for one (E0716, E1209): get another one from the authority',
};

const notStored = (why: string): Outcome => refused(`the certificate was not stored: ${why}`);

const notRegistered = (cnpj: string): Outcome => refused(`no company ${cnpj}: register it with company put first`);

const holderFault = (holder: string, cnpj: string): string | undefined =>
  haveSameRoot(holder, cnpj) ? undefined : `it belongs to another company (${holder})`;

const validityFault = ({ notBefore, notAfter }: Certificate, now: Instant): string | undefined => {
  if (!isBefore(now, notAfter)) return `it expired on ${notAfter}: get a new one from the authority`;
  if (isBefore(now, notBefore)) return `it is valid from ${notBefore} on: store it then`;
  return undefined;
};

type Certificate = Omit<CompanyCertificate, 'certificateId'>;

const unfit = (certificate: Certificate, cnpj: string, now: Instant): string | undefined =>
  holderFault(certificate.cnpj, cnpj) ?? validityFault(certificate, now);

/** Of several certificates of a file the one to store: the company's own before that of a branch, then the one that is valid for longest. */
const bestFor = (cnpj: string, certificates: readonly Certificate[], now: Instant): Certificate | undefined => {
  const fitting = certificates.filter((one) => unfit(one, cnpj, now) === undefined);
  const own = fitting.filter((one) => one.cnpj === cnpj);
  return (own.length > 0 ? own : fitting).reduce<Certificate | undefined>(
    (best, one) => (best === undefined || isBefore(best.notAfter, one.notAfter) ? one : best),
    undefined,
  );
};

const NONE_OF_SEVERAL = ' (this is the first of several certificates in the file, of which none fits)';

const store = async (cnpj: string, certificate: Certificate, actor: string, session: Session): Promise<Outcome> => {
  const company = await session.readModel.company(cnpj);
  if (company === undefined) return notRegistered(cnpj);
  const replaced = company.certificate?.notAfter;
  const warnings =
    replaced !== undefined && isBefore(certificate.notAfter, replaced)
      ? [`the certificate that it replaces is valid for longer, until ${replaced}`]
      : [];
  const result = await putCertificate(cnpj, certificate, session.vault, session.companyDeps(actor));
  if ('refused' in result) return refused(result.refused);
  const remarks = [
    `certificate stored for ${cnpj}, valid until ${certificate.notAfter}`,
    ...(certificate.cnpj === cnpj ? [] : [`it is that of ${certificate.cnpj}, of the same company`]),
    ...(certificate.chainPem.length > 0
      ? []
      : ['it came without its chain: should the national system refuse it (E1205), export it again with the chain']),
    ...(await profileRemark(certificate)),
  ];
  return done(warned(remarks.join('; '), warnings), {
    cnpj,
    certificate_id: result.done,
    not_after: certificate.notAfter,
    holder_cnpj: certificate.cnpj,
    warnings,
  });
};

/** What the certificate says of itself and the national system refuses. It is stored all the same, as the refusal is another system's. */
const profileRemark = async ({ certificatePem }: Certificate): Promise<readonly string[]> => {
  const { profileFaults } = await import('../../certificates/profile.js');
  const faults = profileFaults(certificatePem).map((fault) => PROFILE[fault]);
  return faults.length === 0
    ? []
    : [
        `the national system refuses it, because ${faults.join(', and ')}: get an A1 e-CNPJ from an authority of ICP-Brasil`,
      ];
};

const PROFILE: Record<ProfileFault, string> = {
  authority: 'it is the certificate of an authority (E0716, E1200)',
  no_signature: 'its key usage lacks digital signature or non-repudiation (E0716)',
  no_client: 'its extended key usage lacks client authentication (E1200)',
  cnpj_in_name: 'its CNPJ is in the common name only, not in otherName 2.16.76.1.3.3 (E0716, E1209)',
};
