import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { recordCertificate } from '../../app/company/company-commands.js';
import { isBefore } from '../../domain/shared/time.js';
import type { CompanyCertificate } from '../../ports/certificate-vault.js';
import { badUsage, type Command, type Outcome, refused, textFlag } from '../command.js';
import type { Session } from '../session.js';
import { answer } from './company.js';

const put: Command = {
  name: 'certificate put',
  positionals: ['CNPJ'],
  summary: 'store an A1 certificate (.pfx, modern or legacy), encrypted',
  options: {
    pfx: { type: 'string', help: 'the PKCS#12 file; required' },
    'password-file': { type: 'string', help: 'a file that holds its password; required' },
  },
  changes: true,
  run: async ({ positionals: [cnpj = ''], flags, actor, session }) => {
    const pfxFile = textFlag(flags, 'pfx');
    const passwordFile = textFlag(flags, 'password-file');
    if (pfxFile === undefined || passwordFile === undefined) return badUsage('--pfx and --password-file are required');
    const pfx = await readFile(pfxFile).catch(() => undefined);
    if (pfx === undefined) return badUsage(`${pfxFile} cannot be read`);
    const password = await readFile(passwordFile, 'utf8').catch(() => undefined);
    if (password === undefined) return badUsage(`${passwordFile} cannot be read`);
    const opened = await session();
    const read = opened.readPkcs12(pfx, password.replace(/\r?\n$/, ''));
    if (!read.ok) return refused(`the certificate was not stored: ${REASONS[read.reason] ?? read.reason}`);
    const { certificate } = read;
    if (certificate.cnpj.slice(0, 8) !== cnpj.slice(0, 8)) {
      return refused(`the certificate was not stored: it belongs to another CNPJ (${certificate.cnpj})`);
    }
    const now = opened.clock.now();
    if (!isBefore(now, certificate.notAfter))
      return refused(`the certificate was not stored: it expired on ${certificate.notAfter}`);
    if (isBefore(now, certificate.notBefore))
      return refused(`the certificate was not stored: it is valid from ${certificate.notBefore} on`);
    return await store(cnpj, certificate, actor, opened);
  },
};

const issueDemo: Command = {
  name: 'certificate issue-demo',
  positionals: ['CNPJ'],
  summary: 'make a throwaway certificate that only the simulator accepts',
  options: {},
  changes: true,
  run: async ({ positionals: [cnpj = ''], actor, session }) => {
    const opened = await session();
    const company = await opened.readModel.company(cnpj);
    if (company?.state.kind !== 'company') return refused(`no company ${cnpj}: register it with company put first`);
    return await store(
      cnpj,
      await opened.issueDemoCertificate(cnpj, company.state.registration.legalName),
      actor,
      opened,
    );
  },
};

export const certificateCommands: readonly Command[] = [put, issueDemo];

const REASONS: Readonly<Record<string, string>> = {
  wrong_password: 'the password is wrong',
  not_pkcs12: 'the file is not PKCS#12',
  no_private_key: 'it holds no private key',
  no_certificate: 'it holds no certificate',
  no_cnpj: 'its holder has no CNPJ (an e-CNPJ is needed)',
};

/** The vault first: an event that names a certificate which is not there would stop issuing. */
const store = async (
  cnpj: string,
  facts: Omit<CompanyCertificate, 'certificateId'>,
  actor: string,
  session: Session,
): Promise<Outcome> => {
  const known = await session.readModel.company(cnpj);
  if (known?.state.kind !== 'company') return refused(`no company ${cnpj}: register it with company put first`);
  const certificate = { ...facts, certificateId: randomUUID() };
  await session.vault.put(cnpj, certificate);
  const { certificateId, notBefore, notAfter, fingerprint } = certificate;
  const result = await recordCertificate(
    cnpj,
    { certificateId, notBefore, notAfter, fingerprint },
    session.companyDeps(actor),
  );
  return answer(result, `certificate stored for ${cnpj}, valid until ${notAfter}`, {
    cnpj,
    certificate_id: certificateId,
    not_after: notAfter,
  });
};
