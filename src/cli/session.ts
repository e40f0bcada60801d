import type { AuditDeps } from '../app/audit/audit-trail.js';
import type { EventStore } from '../app/event-store/event-store.js';
import type { CommandResult } from '../app/operator/company/company-commands.js';
import type { SettleDeps } from '../app/operator/settlement/settle-invoice.js';
import type { ApplyingDeps } from '../app/operator/transact-and-apply.js';
import type { StartingPoint } from '../app/recovery/ask-series.js';
import type { RecoveryReport } from '../app/recovery/recover-log.js';
import type { CompanyId, Mode } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';
import type { Limits } from '../domain/invoice/limits.js';
import type { Invoice } from '../domain/invoice/state.js';
import type { CertificateRefusal } from '../ports/certificate-refusals.js';
import type { CertificateVault, CompanyCertificate } from '../ports/certificate-vault.js';
import type { Clock } from '../ports/clock.js';
import type { DocumentTexts, EmbeddedDigest, SignatureOracle } from '../ports/documents.js';
import type { EventLog, LogPosition } from '../ports/event-log.js';
import type { ExportSigner } from '../ports/export-signer.js';
import type { ImportedKeys } from '../ports/idempotency-keys.js';
import type { MasterKeyGeneration, RotationProgress, RotationResult } from '../ports/master-keys.js';
import type { ParametersCache } from '../ports/municipal-parameters.js';
import type { ProjectionStatus } from '../ports/projection-status.js';
import type { ReadModel } from '../ports/read-model.js';
import type { SealingKeys } from '../ports/sealing-keys.js';
import type { SupportReads } from '../ports/support-reads.js';
import type { LookupProgressStore } from '../ports/work-progress.js';
import type { WorkQueue } from '../ports/work-queue.js';

export type SessionNeeds = {
  /** Only the rebuild, which repairs it, may open a read model that was made from another log. */
  readModelOfAnyLog?: true;
  /** An audit must not make the rows that it judges, nor refuse those of another log. */
  rowsAsTheyAre?: true;
  /** An embedded database that is not there is refused, not made. */
  onlyExisting?: true;
};

/** What operator commands work with: the same engines as the running service. */
export type Session = {
  clock: Clock;
  log: EventLog;
  store: EventStore;
  sealingKeys: SealingKeys;
  /** `oracle` is another implementation of XMLDSig than the one that signs and checks documents. */
  documentChecks(): Promise<{ oracle: SignatureOracle; embeddedDigest: EmbeddedDigest; textsOf: DocumentTexts }>;
  readModel: ReadModel;
  supportReads: SupportReads;
  vault: CertificateVault;
  /** The Idempotency-Keys of requests whose notes are taken over. */
  importedKeys: ImportedKeys;
  companyDeps(actor: string): ApplyingDeps;
  /** Dependencies of a settlement; the connections to the authorizer close with the session. */
  settleDeps(actor: string): Promise<SettleDeps>;
  /** Log recovery: compares a restored log with the authorizer, and ends the pause of issuing when nothing contradicts it. */
  recoverLog(actor: string, options: LogRecoveryOptions): Promise<LogRecovery>;
  /** Writes a consistent copy of the embedded database while the service runs. */
  backup(options: BackupRequest): Promise<BackupOutcome>;
  /** Pauses issuing over a log that was restored by other means, until log recovery. */
  markRestored(): Promise<void>;
  /** The stored answers of the municipal parameters API. */
  parameters: Pick<ParametersCache, 'entriesOf'>;
  /** How long an Idempotency-Key is good for one invoice, in seconds: a day, and less only in a rehearsal. */
  keySeconds: number;
  /** Progress of the look-ups that have not decided anything yet. */
  lookups: Pick<LookupProgressStore, 'get'>;
  limits: Limits;
  /** Certificates that the authorizer refuses; the longest refused first. */
  refusedCertificates(): Promise<readonly CertificateRefusal[]>;
  testRetentionSeconds: number;
  /** Makes a throwaway certificate that only the simulator accepts. Refused where no simulator takes it, and in place of a real certificate. */
  issueDemoCertificate(
    cnpj: string,
    legalName: string,
    actor: string,
  ): Promise<CommandResult<Omit<CompanyCertificate, 'certificateId'>>>;
  /** Modes that the simulator serves: nothing issued there is a fiscal document. */
  simulatedModes: readonly Mode[];
  /** The body with which the public API showed this invoice at that instant. */
  bodyOf(invoice: Invoice, at: Instant): object;
  exportSigner: ExportSigner;
  /** Compares every row of the read models with what the log makes of it. */
  drift(onProgress: (progress: DriftProgress) => void): Promise<DriftReport>;
  projections: ProjectionOperations;
  /** The service's queue. An in-process queue is reached through the database, so a retry takes a second or two. */
  queue: Pick<WorkQueue, 'parked' | 'isParked' | 'retryParked'> & {
    /** What the user of NATS must be permitted and is not. */
    missingRight?(): Promise<string | undefined>;
    /** Undefined for a queue inside another process. */
    depth(): Promise<number | undefined>;
  };
  /** When these API keys were last used, to the hour; a key that was never used is missing. */
  keyUses(keyIds: readonly string[]): Promise<ReadonlyMap<string, Instant>>;
  masterKey: MasterKeyOperations;
  /** How many kinds of differences and of documents that could not be relied on were seen in the last 7 days; `nfse doctor` lists them. */
  recentNotices(): Promise<number>;
  /** The projections whose rows do not hold what the log says yet, as after a restore. */
  projectionsBehind(): Promise<readonly string[]>;
  /** Checks of the engines and of open work; what `behind` projections cannot tell is unknown. */
  checks(actor: string, behind: readonly string[]): Promise<readonly Check[]>;
};

/** Records the acts of a command with the operator as actor. */
export const auditDeps = ({ store, clock }: Pick<Session, 'store' | 'clock'>, actor: string): AuditDeps => ({
  store,
  clock,
  actor: `support:${actor}`,
});

export type LogRecoveryOptions = {
  /** Resume although the authorizer holds notes that belong to no invoice. */
  acceptUnknown: boolean;
  /** A series counts as ended after this many consecutive numbers that the authorizer does not know. */
  span: number;
  /** Where notes may be besides the end of the log. */
  from: readonly StartingPoint[];
  /** Modes without an authorizer here, over which issuing resumes all the same. */
  withoutAuthorizer: readonly Mode[];
  /** Companies that are not compared; each stays disabled until a later comparison. */
  withoutCompanies: readonly CompanyId[];
  /** Called before anything is asked, when issuing is paused. */
  onPaused(): void;
  onProgress(text: string): void;
};

/** `refused`: one line why nothing was asked, or why issuing stays paused after all. */
export type LogRecovery =
  | { kind: 'not_paused' }
  | { kind: 'refused'; why: string }
  | ({ kind: 'compared'; resumed: boolean } & RecoveryReport);

/** `isWaiting`: another audit compares this projection now, and this one comes after it. */
export type DriftProgress = { projection: string; events: number; isWaiting?: true };

/** `notCompared` has one line for each projection that could not be compared, with the reason. */
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

/** `rows` counts all tables. `events` is undefined when the log is in another engine and not in the backup. */
export type BackupOutcome =
  | { done: { folder: string; tables: number; rows: number; events?: number; masterKey: 'included' | 'absent' } }
  | { refused: string };

export type Check = { name: string; ok: boolean; detail: string; cure?: string | undefined };

/** The checks of `make`, or one that says that nothing is known while a projection that they read is behind. */
export const unlessBehind = async (
  behind: readonly string[],
  name: string,
  reads: readonly string[],
  make: () => Promise<readonly Check[]>,
): Promise<readonly Check[]> => {
  const late = reads.filter((projection) => behind.includes(projection));
  if (late.length === 0) return await make();
  const detail = `unknown until the projections have caught up (${late.join(', ')})`;
  return [{ name, ok: false, detail, cure: 'nfse projections status; then nfse doctor again' }];
};

type MasterKeyOperations = {
  /** Newest first. */
  status(): Promise<readonly MasterKeyGeneration[]>;
  rotate(actor: string, onProgress: (progress: RotationProgress) => void): Promise<RotationResult>;
};

export type ProjectionOperations = {
  /** In the order in which they are shown. */
  names: readonly string[];
  status(): Promise<readonly ProjectionStatus[]>;
  /**
   * Why no generation may be made or dropped now: the rows are of another log, or evidence of what this one has lost. Undefined otherwise, and where
   * the operator has named the log that is there. To be asked before an order is recorded; `rebuild` and `rollback` refuse for the same reasons.
   */
  refusal(namedLog?: string): Promise<string | undefined>;
  rebuild(name: string, onProgress: (progress: RebuildProgress) => void, namedLog?: string): Promise<RebuildResult>;
  rollback(name: string, onProgress: (progress: RebuildProgress) => void): Promise<RebuildResult>;
};

/** `share` is between 0 and 1; `events` counts those handled in this run. */
type RebuildProgress = { name: string; share: number; events: number };

/** `refused` is one line; the live rows are then unchanged. */
export type RebuildResult =
  | { done: { name: string; version: number; generation: number; position: LogPosition | null; events: number } }
  | { refused: string };
