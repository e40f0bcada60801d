import { LRUCache } from 'lru-cache';
import { type CompanyId, companyStream } from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import { isBefore } from '../../domain/common/time.js';
import type { Company } from '../../domain/company/company.js';
import type { KeyFault } from '../../domain/company/events.js';
import { KEPT_CERTIFICATES } from '../../lib/kept-certificates.js';
import { createKeyedLock } from '../../lib/keyed-lock.js';
import type { Caller } from '../../ports/authorizer.js';
import type { CertificateVault, CompanyCertificate } from '../../ports/certificate-vault.js';
import type { Clock } from '../../ports/clock.js';
import { type CommandContext, operatorContext } from '../event-store/command-context.js';
import type { EventStore } from '../event-store/event-store.js';
import { anyState, transact } from '../event-store/transact.js';

/**
 * Opens a company's current certificate once while it stays among those kept. The first opening of each certificate is recorded before the
 * certificate is handed out; a later one adds no event and looks for no fault again, so that a walk over more companies than are kept costs a decryption
 * each. A certificate with a fault is recorded and not handed out. A renewed certificate has another id, so the next call opens it.
 */
export const createCertificateOpener = (deps: {
  vault: CertificateVault;
  faultOf(certificate: CompanyCertificate): KeyFault | undefined;
  store: EventStore;
  clock: Clock;
  company(companyId: CompanyId): Promise<Company | undefined>;
  actor: CommandContext['actor'];
}) => {
  const opened = new LRUCache<string, CompanyCertificate | 'unusable'>({ max: KEPT_CERTIFICATES });
  // The verdict on each certificate whose opening is recorded. It stays right: a certificate that is put again gets another id.
  const judged = new Map<string, KeyFault | undefined>();
  const oneAtATime = createKeyedLock();

  const open = async (
    companyId: CompanyId,
    certificateId: string,
  ): Promise<CompanyCertificate | 'unusable' | undefined> => {
    const known = opened.get(certificateId);
    if (known !== undefined) return known;
    const certificate = await deps.vault.open(companyId, certificateId);
    if (certificate === undefined) return undefined;
    const unusable = judged.has(certificateId) ? judged.get(certificateId) : deps.faultOf(certificate);
    if (!judged.has(certificateId)) await recordOpening(companyId, present({ certificateId, unusable }), deps);
    judged.set(certificateId, unusable);
    const result = unusable === undefined ? certificate : 'unusable';
    opened.set(certificateId, result);
    return result;
  };

  return async ({ companyId }: Caller): Promise<CompanyCertificate | undefined> => {
    const certificateId = (await deps.company(companyId))?.certificate?.certificateId;
    if (certificateId === undefined) return undefined;
    const found = opened.get(certificateId) ?? (await oneAtATime(companyId, () => open(companyId, certificateId)));
    return found === 'unusable' ? undefined : found;
  };
};

/**
 * The certificates of `certificateOf` until they expire. No send is recorded under an expired certificate, because none can leave: the client of the
 * authorizer does not connect with it.
 */
export const unlessExpired =
  (
    certificateOf: (caller: Caller) => Promise<CompanyCertificate | undefined>,
    clock: Clock,
  ): ((caller: Caller) => Promise<CompanyCertificate | undefined>) =>
  async (caller) => {
    const certificate = await certificateOf(caller);
    return certificate !== undefined && isBefore(clock.now(), certificate.notAfter) ? certificate : undefined;
  };

const recordOpening = async (
  companyId: CompanyId,
  opening: { certificateId: string; unusable?: KeyFault },
  { store, clock, actor }: { store: EventStore; clock: Clock; actor: CommandContext['actor'] },
): Promise<void> => {
  await transact(
    {
      stream: companyStream(companyId),
      // Every process adds such an event, so reading the whole stream would cost more each time.
      read: 'last',
      fold: anyState,
      decide: (_state, { now }) => ({ events: [{ type: 'CertificateOpened', data: { ...opening, at: now } }] }),
      context: operatorContext('audit_certificate', { actor, companyId }),
    },
    { store, clock },
  );
};
