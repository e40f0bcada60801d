import { LRUCache } from 'lru-cache';
import { type CompanyId, companyStream } from '../../domain/common/ids.js';
import type { Company } from '../../domain/company/company.js';
import { createKeyedLock } from '../../lib/keyed-lock.js';
import type { Caller } from '../../ports/authorizer.js';
import type { CertificateVault, CompanyCertificate } from '../../ports/certificate-vault.js';
import type { Clock } from '../../ports/clock.js';
import { type CommandContext, operatorContext } from '../event-store/command-context.js';
import type { EventStore } from '../event-store/event-store.js';
import { anyState, transact } from '../event-store/transact.js';

const KEPT_OPEN = 1_000;

/**
 * Opens a company's current certificate once while it stays among those kept. Each opening is recorded before the key is used. A renewed certificate
 * has another id, so the next call opens it.
 */
export const createCertificateOpener = (deps: {
  vault: CertificateVault;
  store: EventStore;
  clock: Clock;
  company(companyId: CompanyId): Promise<Company | undefined>;
  actor: CommandContext['actor'];
}) => {
  const opened = new LRUCache<string, CompanyCertificate>({ max: KEPT_OPEN });
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
  await transact(
    {
      stream: companyStream(companyId),
      // Every opening adds an event, so reading the whole stream would cost more each time.
      read: 'last',
      fold: anyState,
      decide: (_state, { now }) => ({ events: [{ type: 'CertificateOpened', data: { certificateId, at: now } }] }),
      context: operatorContext('audit_certificate', { actor, companyId }),
    },
    { store, clock },
  );
};
