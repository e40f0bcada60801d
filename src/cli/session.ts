import type { CompanyCommandDeps } from '../app/company/company-commands.js';
import type { EventStore } from '../app/event-store/event-store.js';
import type { CertificateVault, CompanyCertificate } from '../ports/certificate-vault.js';
import type { Clock } from '../ports/clock.js';
import type { EventLog } from '../ports/event-log.js';
import type { ReadModel } from '../ports/read-model.js';
import type { SealingKeys } from '../ports/sealing-keys.js';

export type ReadCertificate =
  | { ok: true; certificate: Omit<CompanyCertificate, 'certificateId'> }
  | { ok: false; reason: string };

/** What the operator commands work on: the same engines as the running service's. */
export type Session = {
  clock: Clock;
  log: EventLog;
  store: EventStore;
  sealingKeys: SealingKeys;
  readModel: ReadModel;
  vault: CertificateVault;
  companyDeps(actor: string): CompanyCommandDeps;
  /** How long a test invoice lives. */
  testRetentionSeconds: number;
  readPkcs12(pfx: Buffer, password: string): ReadCertificate;
  /** A throwaway certificate that only the simulator accepts. */
  issueDemoCertificate(cnpj: string, legalName: string): Promise<Omit<CompanyCertificate, 'certificateId'>>;
  /** Modes that the simulator serves: nothing issued there is a fiscal document. */
  simulatedModes: readonly ('live' | 'test')[];
  /** Checks of the machinery below the log: engines, projections, certificates. */
  checks(): Promise<readonly Check[]>;
};

export type Check = { name: string; ok: boolean; detail: string; cure?: string };
