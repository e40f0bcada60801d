import type { OpenWork } from '../adapters/read-model-postgres/watch.js';
import type { Lag } from '../app/read/lag.js';
import { counted } from '../cli/text.js';
import type { RoleHealth } from '../console/deps.js';
import type { Limits } from '../domain/invoice/limits.js';
import { invoicePrefix } from '../domain/shared/ids.js';
import type { Clock } from '../ports/clock.js';
import type { LogPosition } from '../ports/event-log.js';
import type { ProjectionStatus } from '../workers/projection-status.js';
import type { Role } from './config.js';
import type { Readiness } from './readiness.js';
import { isStuck, openSeconds } from './work-checks.js';

/** The projector's limit for readiness, too. */
const LATE_SECONDS = 30;

export type RoleSources = {
  roles: readonly Role[];
  clock: Clock;
  limits: Limits;
  readiness(): Promise<Readiness>;
  switchedOff(): Promise<boolean>;
  projections(): Promise<readonly ProjectionStatus[]>;
  halted(): readonly string[];
  openWork(): Promise<readonly OpenWork[]>;
  lag: Lag;
  /** Where the relay is; undefined where the queue is inside the issuer's process, which hands work over at once. */
  relayed: (() => Promise<LogPosition | null>) | undefined;
};

/**
 * What this process sees of every role: of its own from the inside, of the others by what they leave undone. A role that does
 * nothing anywhere shows as work that waits, never as a missing heartbeat.
 */
export const roleHealth = async (sources: RoleSources): Promise<readonly RoleHealth[]> => {
  const [api, projector, relay, workers] = await Promise.all([
    ...([apiHealth(sources), projectorHealth(sources), relayHealth(sources), workerHealth(sources)] as const),
  ]);
  return [api, projector, relay, ...workers].map((one) => ({ ...one, here: sources.roles.includes(one.role) }));
};

type Seen = Omit<RoleHealth, 'here'> & { role: Role };

const apiHealth = async ({ roles, readiness, switchedOff }: RoleSources): Promise<Seen> => {
  // Known wherever the console runs, and ready all the same.
  if (await switchedOff()) return { role: 'api', health: 'bad', detail: 'switched off by an operator: nfse api on' };
  if (!roles.includes('api'))
    return { role: 'api', health: 'elsewhere', detail: 'ask /health/ready of a process with this role' };
  const { ready, reasons } = await readiness();
  return { role: 'api', health: ready ? 'ok' : 'bad', detail: ready ? 'takes requests' : reasons.join('; ') };
};

const projectorHealth = async ({ projections, halted }: RoleSources): Promise<Seen> => {
  const all = [...(await projections())].sort((a, b) => b.lagSeconds - a.lagSeconds);
  const furthest = all[0];
  const stopped = halted();
  if (stopped.length > 0) return { role: 'projector', health: 'bad', detail: `halted at ${stopped.join(', ')}` };
  const seconds = Math.round(furthest?.lagSeconds ?? 0);
  const detail = seconds === 0 ? '0 s behind the log' : `${furthest?.name} is ${seconds} s behind the log`;
  return { role: 'projector', health: seconds < LATE_SECONDS ? 'ok' : 'bad', detail };
};

const relayHealth = async ({ relayed, lag }: RoleSources): Promise<Seen> => {
  if (relayed === undefined) return { role: 'relay', health: 'ok', detail: 'the queue is inside the issuer’s process' };
  const seconds = Math.round(await lag([invoicePrefix.live, invoicePrefix.test], await relayed()));
  return { role: 'relay', health: seconds < LATE_SECONDS ? 'ok' : 'bad', detail: `${seconds} s behind the log` };
};

const workerHealth = async ({ openWork, clock, limits }: RoleSources): Promise<readonly Seen[]> => {
  const now = clock.now();
  const rows = await openWork();
  const neverTried = rows.filter(({ started, work }) => !started && work === 'issue');
  const wait = Math.max(0, ...neverTried.map((row) => openSeconds(row, now)));
  const open = rows.reduce((sum, { count }) => sum + count, 0);
  const overdue = rows.filter((row) => isStuck(row, now, limits));
  return [
    {
      ...{ role: 'issuer', health: wait < LATE_SECONDS ? 'ok' : 'bad' },
      detail: `${counted(open, 'invoice')} open, the oldest without an attempt waits ${wait} s`,
    },
    {
      ...{ role: 'sweeper', health: overdue.length === 0 ? 'ok' : 'bad' },
      detail: overdue.length === 0 ? 'no verdict is overdue' : 'verdicts are overdue: nobody sweeps',
    },
  ];
};
