import { randomUUID } from 'node:crypto';
import type { Company } from '../../domain/company/company.js';
import { type CompanyId, companyStream } from '../../domain/shared/ids.js';
import type { Caller } from '../../ports/authorizer.js';
import type { CertificateVault, CompanyCertificate } from '../../ports/certificate-vault.js';
import type { Clock } from '../../ports/clock.js';
import { loadCompany } from '../company/company-commands.js';
import type { CommandContext } from '../event-store/codec.js';
import type { EventStore } from '../event-store/event-store.js';
import { createKeyedLock } from '../keyed-lock.js';
import { lru } from '../lru.js';

const KEPT_OPEN = 1_000;

/**
 * Opens a company's current certificate once per process; each opening is recorded before the key is used, and a
 * renewed certificate is taken at the next call because its id differs.
 */
export const createCertificateOpener = (deps: {
  vault: CertificateVault;
  store: EventStore;
  clock: Clock;
  company(companyId: CompanyId): Promise<Company | undefined>;
  actor: CommandContext['actor'];
}) => {
  const opened = lru<string, CompanyCertificate>(KEPT_OPEN);
  const oneAtATime = createKeyedLock();

  const open = async (companyId: CompanyId, certificateId: string): Promise<CompanyCertificate | undefined> => {
    const known = opened.get(certificateId);
    if (known !== undefined) return known;
    const certificate = await deps.vault.open(companyId, certificateId);
    if (certificate === undefined) return undefined;
    await recordOpening(companyId, certificateId, deps);
    opened.set(certificateId, certificate);
    return certificate;
  };

  return async ({ companyId }: Caller): Promise<CompanyCertificate | undefined> => {
    const certificateId = (await deps.company(companyId))?.certificate?.certificateId;
    if (certificateId === undefined) return undefined;
    return opened.get(certificateId) ?? (await oneAtATime(companyId, () => open(companyId, certificateId)));
  };
};

const recordOpening = async (
  companyId: CompanyId,
  certificateId: string,
  { store, clock, actor }: { store: EventStore; clock: Clock; actor: CommandContext['actor'] },
): Promise<void> => {
  for (;;) {
    const { version } = await loadCompany(companyId, store);
    const now = clock.now();
    const commandId = randomUUID();
    const context = { commandId, correlationId: commandId, causationId: commandId, actor, companyId, now };
    const event = { type: 'CertificateOpened' as const, data: { certificateId, at: now } };
    const appended = await store.append(companyStream(companyId), version, [event], {
      ...context,
      site: 'audit_certificate',
    });
    if (appended.ok) return;
  }
};
