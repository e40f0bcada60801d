import type { AuditDeps } from '../app/audit/append-audit.js';
import type { CompanyCommandDeps } from '../app/company/company-commands.js';
import type { EventStore } from '../app/event-store/event-store.js';
import type { Reconciled } from '../app/reconcile-log/reconcile.js';
import type { SettleDeps } from '../app/settlement/settlement.js';
import type { StreamName } from '../domain/shared/ids.js';
import type { Instant } from '../domain/shared/time.js';
import type { CertificateVault, CompanyCertificate } from '../ports/certificate-vault.js';
import type { Clock } from '../ports/clock.js';
import type { EmbeddedDigest, SignatureOracle } from '../ports/documents.js';
import type { EventLog, LogPosition } from '../ports/event-log.js';
import type { ExportSigner } from '../ports/export-signer.js';
import type { ParametersCache } from '../ports/municipal-parameters.js';
import type { ReadModel } from '../ports/read-model.js';
import type { SealingKeys } from '../ports/sealing-keys.js';
import type { SupportReads } from '../ports/support-reads.js';
import type { ParkedTap } from '../ports/work-queue.js';

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
  /** Another implementation of XMLDSig than the one that signs and takes documents. */
  secondOpinion: SignatureOracle;
  embeddedDigest: EmbeddedDigest;
  readModel: ReadModel;
  supportReads: SupportReads;
  vault: CertificateVault;
  companyDeps(actor: string): CompanyCommandDeps;
  /** What support settles an invoice with; the authorizer's connections close with the session. */
  settleDeps(actor: string): Promise<SettleDeps>;
  /** Compares a log that was put back with the authorizer, and lets issuing resume when nothing speaks against it. */
  reconcile(actor: string, options: ReconcileOptions): Promise<Reconciliation>;
  /** A consistent copy of the embedded database while the service runs. */
  backup(options: BackupRequest): Promise<BackupOutcome>;
  /** Pauses issuing over a log that was put back by other means, until it is reconciled. */
  markRestored(): Promise<void>;
  /** The last answers of the municipal parameters API. */
  parameters: Pick<ParametersCache, 'entriesOf'>;
  /** How long a test invoice lives. */
  testRetentionSeconds: number;
  readPkcs12(pfx: Buffer, password: string): ReadCertificate;
  /** A throwaway certificate that only the simulator accepts. */
  issueDemoCertificate(cnpj: string, legalName: string): Promise<Omit<CompanyCertificate, 'certificateId'>>;
  /** Modes that the simulator serves: nothing issued there is a fiscal document. */
  simulatedModes: readonly ('live' | 'test')[];
  /** Origin of the public API, as its links name it. */
  baseUrl: string;
  /** Signs exports with a key of the vault. */
  exportSigner: ExportSigner;
  /** Compares every row of the read models with what the log makes of it. */
  drift(onProgress: (progress: { projection: string; events: number }) => void): Promise<DriftReport>;
  projections: ProjectionOperations;
  /** Of the service; an in-process queue is seen by what it has written down, so a retry takes a second or two. */
  queue: {
    parked(): Promise<readonly ParkedTap[]>;
    retryParked(stream: StreamName): Promise<boolean>;
    /** Undefined for a queue inside another process. */
    depth(): Promise<number | undefined>;
  };
  /** When these API keys were last used, to the hour; one that never was is not in it. */
  keyUses(keyIds: readonly string[]): Promise<ReadonlyMap<string, Instant>>;
  masterKey: MasterKeyOperations;
  /** Checks of the machinery and of the work that goes on. */
  checks(actor: string): Promise<readonly Check[]>;
};

/** In whose name a command puts something on record. */
export const auditDeps = ({ store, clock }: Pick<Session, 'store' | 'clock'>, actor: string): AuditDeps => ({
  ...{ store, clock, actor: `support:${actor}` },
});

export type ReconcileOptions = {
  /** Resume although notes were found that no invoice accounts for. */
  acceptUnknown: boolean;
  /** So many numbers in a row that the authorizer does not know end a series. */
  span: number;
  onProgress(text: string): void;
};

export type Reconciliation = { kind: 'not_paused' } | ({ kind: 'compared'; resumed: boolean } & Reconciled);

/** `notCompared` says which projections could not be, and why, in one line each. */
export type DriftReport = {
  rows: number;
  drifts: readonly { projection: string; row: string; what: string }[];
  notCompared: readonly string[];
};

export type BackupRequest = {
  folder: string;
  withMasterKey: boolean;
  onProgress(table: string, rows: number): void;
};

/** `rows` of all tables; `events` undefined when the log is in an engine of its own, and not in the backup. */
export type BackupOutcome =
  | { done: { folder: string; tables: number; rows: number; events?: number; masterKey: 'included' | 'absent' } }
  | { refused: string };

export type Check = { name: string; ok: boolean; detail: string; cure?: string };

export type MasterKeyOperations = {
  /** Newest first. */
  status(): Promise<readonly MasterKeyGeneration[]>;
  rotate(
    actor: string,
    onProgress: (progress: { done: number; of: number }) => void,
  ): Promise<{ done: { generation: string; activated: boolean; resealed: number } } | { refused: string }>;
};

/** `waiting` stands in the key file and seals nothing yet; `lost` has sealed and is not in the key file, `given_up` never will be. */
export type MasterKeyGeneration = {
  generation: string;
  keyId: string;
  state: 'sealing' | 'opening' | 'waiting' | 'lost' | 'given_up';
  certificates: number;
  dayKeys: number;
  activatedAt?: Instant;
  activatedBy?: string;
  givenUpAt?: Instant;
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
