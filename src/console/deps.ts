import type { SettleCommand, SettleResult } from '../app/operator/settlement/settle-invoice.js';
import type { SearchDeps } from '../app/operator/support/search.js';
import type { StoppedSeries } from '../app/operator/support/stopped-series.js';
import type { ParkedQueue } from '../app/operator/support/waiting.js';
import type { InvoiceAddress, Mode, StreamName } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';
import type { Limits } from '../domain/invoice/limits.js';
import type { Invoice } from '../domain/invoice/state.js';
import type { CertificateRefusal } from '../ports/certificate-refusals.js';
import type { CertificateVault } from '../ports/certificate-vault.js';
import type { BuildingStatus, ProjectionStatus } from '../ports/projection-status.js';
import type { ReadModel } from '../ports/read-model.js';
import type { LookupProgressStore } from '../ports/work-progress.js';

/** The health word that is shown; its colour only repeats it. */
type Health = 'ok' | 'bad' | 'elsewhere';

/** `detail` in Portuguese and in English. */
export type RoleHealth = {
  role: string;
  here: boolean;
  health: Health;
  detail: readonly [portuguese: string, english: string];
};

export type CheckHealth = { name: string; ok: boolean; detail: string };

/** Work without an outcome. `oldestSeconds` counts from its acceptance, or from the first attempt once there is one. */
export type WaitingWork = { what: string; mode: Mode; count: number; oldestSeconds: number };

export type ProjectionLine = Pick<ProjectionStatus, 'name' | 'version' | 'generation' | 'lagSeconds'> & {
  rebuilding?: Pick<BuildingStatus, 'generation' | 'progress' | 'running'>;
};

/** `detail`: mode and kind of a difference, else what was wrong with the document. `lastStream`: the invoice of the last one. */
export type NoticeLine = { notice: string; detail: string; seen: number; lastAt: Instant; lastStream: StreamName };

/** The last rebuild of a projection that this console began. `detail` in Portuguese and in English. */
export type RebuildRun = {
  state: 'running' | 'done' | 'refused';
  detail: readonly [portuguese: string, english: string];
};

export type Rebuilds = {
  /** Does nothing while a rebuild of the projection runs in this process. The rebuild continues after the answer was sent. */
  begin(projection: string): void;
  /** True, with the reason as the run of the projection, while its rows must not be made again. To be asked before an order is recorded. */
  refuses(projection: string): Promise<boolean>;
  of(projection: string): RebuildRun | undefined;
};

/** Who may use the console, and under which host names. */
export type AccessRules = {
  /** Undefined: no sign-in is needed, which is only allowed when the operations port is on a loopback address. */
  token: string | undefined;
  /** Signs cookies and form tokens; the same in every process of the service. */
  secret(): Buffer;
  /** Host names in lower case, besides those of loopback. */
  hosts: readonly string[];
  /** Name of the operator that forms propose where no sign-in is needed. */
  defaultOperator: string;
};

export type ConsoleDeps = SearchDeps & {
  access: AccessRules;
  readModel: ReadModel;
  lookups: Pick<LookupProgressStore, 'get'>;
  vault: Pick<CertificateVault, 'holds'>;
  limits: Limits;
  queue: ParkedQueue;
  simulatedModes: readonly Mode[];
  /** Whether a simulator signed the note (XML), whatever serves its mode today. */
  isSimulatorsNote(nfseXml: Buffer): boolean;
  /** Asks the authorizer and records the settlement, with the operator as actor. */
  settle(command: SettleCommand, operator: string): Promise<SettleResult>;
  health(): Promise<{ roles: readonly RoleHealth[]; checks: readonly CheckHealth[]; waiting: readonly WaitingWork[] }>;
  /** Certificates that the authorizer refuses; the longest refused first. */
  refusedCertificates(): Promise<readonly CertificateRefusal[]>;
  projections(): Promise<readonly ProjectionLine[]>;
  /** The projections whose rows do not hold what the log says; may be some seconds old. Fails, or does not answer, as the log does. */
  projectionsBehind(): Promise<readonly string[]>;
  /** Differences of the reconciliation and documents that could not be relied on, of the last 7 days; the latest first. */
  notices(): Promise<readonly NoticeLine[]>;
  /** Series that send nothing until an operator moves them; may be a minute old. `unknown` while the log cannot be read. */
  stoppedSeries(): Promise<readonly StoppedSeries[] | 'unknown'>;
  /** The legal names of the companies by CNPJ; may be some seconds old. */
  companyNames(): Promise<ReadonlyMap<string, string>>;
  /** The invoice as the public API shows it at that instant; links have no token. */
  bodyOf(invoice: Invoice, at: Instant): object;
  /** The temporary token `t` that opens the download links of an invoice. */
  downloadToken(invoice: InvoiceAddress, at: Instant): string;
  rebuilds: Rebuilds;
  version: string;
  onFault(error: unknown): void;
};

export type Operator = { name: string; signedIn: boolean; until?: Instant };
