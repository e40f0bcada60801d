import type { MonitoringReads } from '../../adapters/read-model-postgres/monitoring-reads.js';
import { type SqlFault, sqlFault } from '../../adapters/sql/errors.js';
import { shareOf } from '../../app/event-store/walk-log.js';
import { LATE_SECONDS } from '../../app/read/lag.js';
import { unreachable } from '../../domain/common/unreachable.js';
import { cachedCheck, NoAnswerInTime } from '../../lib/cached-check.js';
import { AppendOutcomeUnknown, EventLogUnavailable } from '../../ports/event-log.js';
import type { ProjectionStatus } from '../../ports/projection-status.js';
import type { rowsOfOtherVersions } from '../../projector/status.js';
import type { GuardReadiness } from '../../workers/guard-readiness.js';
import { faultFields } from '../config/logger.js';
import { pauseText } from '../engines/pause-text.js';
import type { OpenedQueue } from '../engines/work-queue.js';

type CheckName = 'serving' | 'database' | 'event_log' | 'queue' | 'guards' | 'certificate_vault';

/** `reason` never contains a name or a value of a client. */
type Failed = { ok: false; reason: string };
type Check = { ok: true } | Failed;

type QueueStatus = ReturnType<OpenedQueue['status']>;

/** `lag_s` is the longest lag, `lags` has the lag of each projection, in seconds. */
type Lags = { lag_s: number; lags: Readonly<Record<string, number>> };

/** Without lags when they could not be read. */
type ProjectionsCheck = (Check & Lags) | Failed;

/** The body of `/health/ready`. */
export type Readiness = {
  ready: boolean;
  /** `check: reason` of every check that fails. */
  reasons: readonly string[];
  /** Lag in seconds of the projection that is furthest behind; null when it could not be read. */
  lag_s: number | null;
  checks: Readonly<Record<CheckName, Check> & { projections: ProjectionsCheck }>;
};

/** What this process knows without asking an engine. */
export type ServiceState = { phase: 'starting' | 'serving' | 'draining'; halted: Set<string> };

export type ReadinessDeps = {
  state: ServiceState;
  watch: Pick<MonitoringReads, 'isReadOnly'>;
  isDiskFull(): boolean;
  logHead(): Promise<unknown>;
  queueStatus(): QueueStatus;
  projections(): Promise<ProjectionsState>;
  guards(): GuardReadiness;
  vault(): Promise<{ wrongKey: number }>;
};

const LIMIT_MS = 2_000;
const KEPT_MS = 1_000;

/** Asks each engine separately, within 2 s and at most once a second. State of this process is never cached. */
export const createReadiness = (deps: ReadinessDeps, limitMs = LIMIT_MS): (() => Promise<Readiness>) => {
  const asked = <T>(ask: () => Promise<T>) => cachedCheck(ask, { reuseMs: KEPT_MS, limitMs });
  const failed = (error: unknown): Failed => ({ ok: false, reason: reasonOf(error, limitMs) });
  const fullDisk = () => (deps.isDiskFull() ? DATABASE_FAULTS.disk_full : undefined);
  const readOnly = asked(() => deps.watch.isReadOnly());
  const logHead = asked(() => deps.logHead());
  const projections = asked(() => deps.projections());
  const vault = asked(() => deps.vault());
  return async () => {
    const [database, eventLog, projected, certificates] = await Promise.all([
      readOnly().then((isReadOnly) => checkOf(isReadOnly ? 'read-only' : fullDisk()), failed),
      logHead().then(() => checkOf(undefined), failed),
      projections().then(
        (state) => projectionsCheck(state, deps.state.halted),
        (error: unknown) => alsoHalted(failed(error), deps.state.halted),
      ),
      vault().then(({ wrongKey }) => checkOf(vaultFault(wrongKey)), failed),
    ]);
    const checks: Readiness['checks'] = {
      serving: checkOf(NOT_SERVING[deps.state.phase]),
      database,
      event_log: eventLog,
      queue: queueCheck(deps.queueStatus()),
      projections: projected,
      guards: checkOf(guardsFault(deps.guards())),
      certificate_vault: certificates,
    };
    const reasons = Object.entries(checks).flatMap(([name, check]) => (check.ok ? [] : [`${name}: ${check.reason}`]));
    return { ready: reasons.length === 0, reasons, lag_s: 'lag_s' in projected ? projected.lag_s : null, checks };
  };
};

const checkOf = (reason: string | undefined): Check => (reason === undefined ? { ok: true } : { ok: false, reason });

const NOT_SERVING = { starting: 'not yet serving', serving: undefined, draining: 'draining' } as const;

const vaultFault = (wrongKey: number): string | undefined =>
  wrongKey === 0 ? undefined : `${wrongKey} certificates are sealed under another master key`;

const reasonOf = (error: unknown, limitMs: number): string => {
  if (error instanceof NoAnswerInTime) return `no answer within ${limitMs / 1000} s`;
  if (error instanceof EventLogUnavailable || error instanceof AppendOutcomeUnknown) return 'unreachable';
  return DATABASE_FAULTS[sqlFault(error)] ?? `failed (${faultFields(error).error})`;
};

const DATABASE_FAULTS: Record<SqlFault, string | undefined> = {
  unavailable: 'unreachable',
  read_only: 'read-only',
  disk_full: 'no disk space',
  refused: 'refuses this user',
  untrusted: 'its certificate is not trusted',
  no_tls: 'offers no TLS',
  unproven: 'does not prove that it knows the password',
  other: undefined,
};

const queueCheck = (status: QueueStatus): Check => {
  if (status.ok) return { ok: true };
  return { ok: false, reason: `${queueFault(status)} (${status.reason})` };
};

const queueFault = ({ isConnected, isPartial }: QueueStatus & { ok: false }): string => {
  if (isPartial === true) return 'may keep work away';
  return isConnected === true ? 'takes no work items' : 'disconnected';
};

/** Why the check `guards` of `/health/ready` fails. docs/operations/lost-database.md says what to do. */
const guardsFault = (readiness: GuardReadiness): string | undefined => {
  switch (readiness.kind) {
    case 'complete':
      return undefined;
    case 'unknown':
      return 'not yet compared with the log';
    case 'rebuilding':
      return `rebuilding (${progressOf(readiness)})`;
    case 'log incomplete':
      return readiness.isOther
        ? 'another log is at the address of the event log: issuing is paused'
        : pauseText(readiness.head, readiness.furthest);
    default:
      return unreachable(readiness);
  }
};

const progressOf = ({ position, upTo, waitsFor }: Extract<GuardReadiness, { kind: 'rebuilding' }>): string =>
  waitsFor === 'operator rows'
    ? 'waiting for the projector'
    : `${Math.floor(shareOf(position, upTo) * 100)} % of the log`;

const haltedTexts = (halted: ReadonlySet<string>): readonly string[] => Array.from(halted, (name) => `${name} halted`);

const alsoHalted = ({ reason }: Failed, halted: ReadonlySet<string>): Failed => ({
  ok: false,
  reason: [...haltedTexts(halted), reason].join('; '),
});

type ProjectionsState = {
  statuses: readonly Pick<ProjectionStatus, 'name' | 'lagSeconds'>[];
  others: Awaited<ReturnType<typeof rowsOfOtherVersions>>;
};

/** Rows of an older version do not move until the swap. That is no fault, because a read that finds a row outdated folds its stream. */
const projectionsCheck = ({ statuses, others }: ProjectionsState, halted: ReadonlySet<string>): Check & Lags => {
  const isBeingReplaced = (name: string): boolean => others.some((other) => other.older && other.name === name);
  const wrong = [
    ...haltedTexts(halted),
    ...statuses
      .filter(({ name, lagSeconds }) => lagSeconds >= LATE_SECONDS && !isBeingReplaced(name))
      .map(({ name, lagSeconds }) => `${name} lags ${Math.round(lagSeconds)} s behind the log`),
    ...others
      .filter(({ readable }) => !readable)
      .map(({ name, older }) => `${name} has rows of ${older ? 'an older' : 'a newer'} version`),
  ];
  return {
    ...checkOf(wrong.length === 0 ? undefined : wrong.join('; ')),
    lag_s: Math.max(0, ...statuses.map(({ lagSeconds }) => lagSeconds)),
    lags: Object.fromEntries(statuses.map(({ name, lagSeconds }) => [name, lagSeconds])),
  };
};
