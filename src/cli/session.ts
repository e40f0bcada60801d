import type { CompanyCommandDeps } from '../app/company/company-commands.js';
import type { EventStore } from '../app/event-store/event-store.js';
import type { Instant } from '../domain/shared/time.js';
import type { CertificateVault, CompanyCertificate } from '../ports/certificate-vault.js';
import type { Clock } from '../ports/clock.js';
import type { EventLog, LogPosition } from '../ports/event-log.js';
import type { ParametersCache } from '../ports/municipal-parameters.js';
import type { ReadModel } from '../ports/read-model.js';
import type { SealingKeys } from '../ports/sealing-keys.js';

export type ReadCertificate =
  | { ok: true; certificate: Omit<CompanyCertificate, 'certificateId'> }
  | { ok: false; reason: CertificateFault };

/** What a certificate file may be wrong with, as far as the file itself tells. */
export type CertificateFault =
  | 'wrong_password'
  | 'not_pkcs12'
  | 'unsupported_algorithm'
  | 'no_private_key'
  | 'not_rsa'
  | 'no_certificate'
  | 'no_cnpj';

/** Only the command that cures it may open a read model that was made from another log. */
export type SessionNeeds = { readModelOfAnyLog: true };

/** What the operator commands work on: the same engines as the running service's. */
export type Session = {
  clock: Clock;
  log: EventLog;
  store: EventStore;
  sealingKeys: SealingKeys;
  readModel: ReadModel;
  vault: CertificateVault;
  companyDeps(actor: string): CompanyCommandDeps;
  /** The last answers of the municipal parameters API. */
  parameters: Pick<ParametersCache, 'entriesOf'>;
  /** How long a test invoice lives. */
  testRetentionSeconds: number;
  readPkcs12(pfx: Buffer, password: string): ReadCertificate;
  /** A throwaway certificate that only the simulator accepts. */
  issueDemoCertificate(cnpj: string, legalName: string): Promise<Omit<CompanyCertificate, 'certificateId'>>;
  /** Modes that the simulator serves: nothing issued there is a fiscal document. */
  simulatedModes: readonly ('live' | 'test')[];
  projections: ProjectionOperations;
  masterKey: MasterKeyOperations;
  /** Checks of the machinery below the log: engines, projections, certificates. */
  checks(): Promise<readonly Check[]>;
};

export type Check = { name: string; ok: boolean; detail: string; cure?: string };

export type MasterKeyOperations = {
  /** Newest first. */
  status(): Promise<readonly MasterKeyGeneration[]>;
  rotate(
    actor: string,
    onProgress: (progress: { done: number; of: number }) => void,
  ): Promise<{ done: { generation: string; activated: boolean; resealed: number } } | { refused: string }>;
};

/** `waiting` stands in the key file and seals nothing yet; `lost` has sealed and is not in the key file. */
export type MasterKeyGeneration = {
  generation: string;
  keyId: string;
  state: 'sealing' | 'opening' | 'waiting' | 'lost';
  certificates: number;
  dayKeys: number;
  activatedAt?: Instant;
  activatedBy?: string;
};

export type ProjectionOperations = {
  /** In the order in which they are shown. */
  names: readonly string[];
  status(): Promise<readonly ProjectionStatus[]>;
  rebuild(name: string, onProgress: (progress: RebuildProgress) => void): Promise<RebuildResult>;
  rollback(name: string, onProgress: (progress: RebuildProgress) => void): Promise<RebuildResult>;
};

export type ProjectionStatus = {
  name: string;
  /** Of the rows that are read. */
  version: number;
  generation: number;
  position: LogPosition | null;
  lagSeconds: number;
  /** `progress` between 0 and 1; not `running`: interrupted, the next rebuild goes on with it. */
  rebuilding?: {
    version: number;
    generation: number;
    position: LogPosition | null;
    progress: number;
    running: boolean;
  };
  previous?: { version: number; generation: number };
};

/** `share` between 0 and 1; `events` handled in this run. */
export type RebuildProgress = { name: string; share: number; events: number };

/** `refused` is one line; the rows that are read are then as they were. */
export type RebuildResult =
  | { done: { name: string; version: number; generation: number; position: LogPosition | null; events: number } }
  | { refused: string };
