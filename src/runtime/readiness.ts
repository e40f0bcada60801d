import type { Watch } from '../adapters/read-model-postgres/watch.js';
import { sqlFault } from '../adapters/sql/errors.js';
import { AppendOutcomeUnknown, EventLogUnavailable } from '../ports/event-log.js';
import type { GuardsStanding } from '../workers/guards-keeper.js';
import { guardsCheck } from './guards-check.js';
import { faultFields } from './logger.js';
import { momentary, NoAnswerInTime } from './momentary.js';
import { type ProjectionsState, projectionsCheck } from './projections-check.js';

export type CheckName = 'serving' | 'database' | 'event_log' | 'queue' | 'projections' | 'guards' | 'certificate_vault';

/** `reason` is there when it is not ok, and says what is wrong without a name or a value of anybody. */
export type Check = { ok: boolean; reason?: string };

/** The body of `/health/ready`. */
export type Readiness = {
  ready: boolean;
  /** `check: reason` of everything that is wrong. */
  reasons: readonly string[];
  /** Of the projection that is furthest behind, in seconds; null when nobody can tell. */
  lag_s: number | null;
  checks: Readonly<Record<CheckName, Check>>;
};

/** What this process knows of itself. */
export type ServiceState = { phase: 'starting' | 'serving' | 'draining'; halted: Set<string> };

export type ReadinessDeps = {
  state: ServiceState;
  watch: Pick<Watch, 'isReadOnly'>;
  /** Position of the last event of the log. */
  logHead(): Promise<unknown>;
  queueStatus(): Check;
  projections(): Promise<ProjectionsState>;
  guards(): GuardsStanding;
  vault(): Promise<{ wrongKey: number }>;
};

const LIMIT_MS = 2_000;
const KEPT_MS = 1_000;

/** Every engine is asked by itself, within 2 s and at most once a second; what this process knows itself is never old. */
export const createReadiness = (deps: ReadinessDeps, limitMs = LIMIT_MS): (() => Promise<Readiness>) => {
  const asked = <T>(ask: () => Promise<T>) => momentary(ask, { keptMs: KEPT_MS, limitMs });
  const failed = (error: unknown): Check => ({ ok: false, reason: reasonOf(error, limitMs) });
  const check = async <T>(ask: () => Promise<T>, wrong: (answer: T) => string | undefined): Promise<Check> => {
    try {
      const reason = wrong(await ask());
      return reason === undefined ? { ok: true } : { ok: false, reason };
    } catch (error) {
      return failed(error);
    }
  };
  const readOnly = asked(() => deps.watch.isReadOnly());
  const logHead = asked(() => deps.logHead());
  const projections = asked(() => deps.projections());
  const vault = asked(() => deps.vault());
  return async () => {
    const [database, eventLog, projected, certificates] = await Promise.all([
      check(readOnly, (isReadOnly) => (isReadOnly ? 'read-only' : undefined)),
      check(logHead, () => undefined),
      projections().then((state) => projectionsCheck(state, deps.state.halted), failed),
      check(vault, ({ wrongKey }) =>
        wrongKey === 0 ? undefined : `${wrongKey} certificates are sealed under another master key`,
      ),
    ]);
    const checks: Readiness['checks'] = {
      serving: serving(deps.state),
      database,
      event_log: eventLog,
      queue: queueCheck(deps.queueStatus()),
      projections: projected,
      guards: guardsCheck(deps.guards()),
      certificate_vault: certificates,
    };
    const reasons = Object.entries(checks).flatMap(([name, { ok, reason = 'failed' }]) =>
      ok ? [] : [`${name}: ${reason}`],
    );
    return { ready: reasons.length === 0, reasons, lag_s: 'lag_s' in projected ? projected.lag_s : null, checks };
  };
};

const reasonOf = (error: unknown, limitMs: number): string => {
  if (error instanceof NoAnswerInTime) return `no answer within ${limitMs / 1000} s`;
  if (error instanceof EventLogUnavailable || error instanceof AppendOutcomeUnknown) return 'unreachable';
  switch (sqlFault(error)) {
    case 'unavailable':
      return 'unreachable';
    case 'read_only':
      return 'read-only';
    case 'disk_full':
      return 'no disk space';
    case 'refused':
      return 'refuses this user';
    case 'untrusted':
      return 'its certificate is not trusted';
    case 'other':
      return `failed (${faultFields(error).error})`;
  }
};

const serving = ({ phase }: ServiceState): Check => {
  if (phase === 'serving') return { ok: true };
  return { ok: false, reason: phase === 'starting' ? 'not yet serving' : 'draining' };
};

const queueCheck = ({ ok, reason }: Check): Check => (ok ? { ok } : { ok, reason: `disconnected (${reason ?? ''})` });
