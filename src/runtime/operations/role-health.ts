import type { OpenWork } from '../../adapters/read-model-postgres/monitoring-reads.js';
import { LATE_SECONDS } from '../../app/read/lag.js';
import type { RoleHealth } from '../../console/deps.js';
import type { Instant } from '../../domain/common/time.js';
import type { Limits } from '../../domain/invoice/limits.js';
import { counted } from '../../lib/counted.js';
import type { ProjectionStatus } from '../../ports/projection-status.js';
import type { Role } from '../config/config.js';
import { isStuck, openSeconds } from '../operator/work-checks.js';
import type { Readiness } from './readiness.js';

/** What a process knows of the work of all roles. */
export type RoleSources = {
  roles: readonly Role[];
  now: Instant;
  limits: Limits;
  readiness: Pick<Readiness, 'ready' | 'reasons'>;
  switchedOff: boolean;
  projections: readonly Pick<ProjectionStatus, 'name' | 'lagSeconds'>[] | 'unknown';
  halted: readonly string[];
  openWork: readonly OpenWork[];
  /** Seconds by which the relay is behind the log; undefined for the in-process queue, which hands work over at once. */
  relayLag: number | 'unknown' | undefined;
};

/** Health of every role: of this process from the inside, of others by the work that they leave undone, because there is no heartbeat. */
export const roleHealth = (sources: RoleSources): readonly RoleHealth[] =>
  [
    apiHealth(sources),
    projectorHealth(sources),
    relayHealth(sources),
    issuerHealth(sources),
    sweeperHealth(sources),
  ].map((one) => ({ ...one, here: sources.roles.includes(one.role) }));

type Seen = Omit<RoleHealth, 'here'> & { role: Role };

const apiHealth = ({ roles, readiness, switchedOff }: RoleSources): Seen => {
  // The switch is known in every process with the console, and readiness does not show it.
  if (switchedOff)
    return {
      role: 'api',
      health: 'bad',
      detail: ['desligada por um operador: nfse api on', 'switched off by an operator: nfse api on'],
    };
  if (!roles.includes('api'))
    return {
      role: 'api',
      health: 'elsewhere',
      detail: [
        'pergunte a /health/ready de um processo com este papel',
        'ask /health/ready of a process with this role',
      ],
    };
  const { ready, reasons } = readiness;
  const why = reasons.join('; ');
  return {
    role: 'api',
    health: ready ? 'ok' : 'bad',
    detail: ready ? ['recebe requisições', 'takes requests'] : [why, why],
  };
};

const inTime = (seconds: number): 'ok' | 'bad' => (seconds < LATE_SECONDS ? 'ok' : 'bad');

const behindTheLog = (seconds: number, name = ''): Seen['detail'] =>
  name === ''
    ? [`${seconds} s atrás do log`, `${seconds} s behind the log`]
    : [`${name} está ${seconds} s atrás do log`, `${name} is ${seconds} s behind the log`];

const LAG_UNKNOWN: Seen['detail'] = [
  'não se sabe o atraso, porque o log não responde',
  'its lag is not known, because the log does not answer',
];

const projectorHealth = ({ projections, halted }: RoleSources): Seen => {
  const names = halted.join(', ');
  if (halted.length > 0)
    return { role: 'projector', health: 'bad', detail: [`parou em ${names}`, `halted at ${names}`] };
  if (projections === 'unknown') return { role: 'projector', health: 'bad', detail: LAG_UNKNOWN };
  const [furthest] = projections.toSorted((a, b) => b.lagSeconds - a.lagSeconds);
  const seconds = Math.round(furthest?.lagSeconds ?? 0);
  const detail = behindTheLog(seconds, seconds === 0 ? '' : furthest?.name);
  return { role: 'projector', health: inTime(seconds), detail };
};

const relayHealth = ({ relayLag }: RoleSources): Seen => {
  if (relayLag === undefined)
    return {
      role: 'relay',
      health: 'ok',
      detail: ['a fila está dentro do processo do issuer', 'the queue is inside the issuer’s process'],
    };
  if (relayLag === 'unknown') return { role: 'relay', health: 'bad', detail: LAG_UNKNOWN };
  const seconds = Math.round(relayLag);
  return { role: 'relay', health: inTime(seconds), detail: behindTheLog(seconds) };
};

const issuerHealth = ({ openWork, now }: RoleSources): Seen => {
  const neverTried = openWork.filter(({ started, work }) => !started && work === 'issue');
  const wait = Math.max(0, ...neverTried.map((row) => openSeconds(row, now)));
  const open = openWork.reduce((sum, { count }) => sum + count, 0);
  return {
    role: 'issuer',
    health: inTime(wait),
    detail: [
      `${counted(open, 'nota aberta', 'notas abertas')}, a mais antiga sem tentativa espera ${wait} s`,
      `${counted(open, 'invoice')} open, the oldest without an attempt waits ${wait} s`,
    ],
  };
};

const sweeperHealth = ({ openWork, now, limits }: RoleSources): Seen =>
  openWork.some((row) => isStuck(row, now, limits))
    ? {
        role: 'sweeper',
        health: 'bad',
        detail: ['há vereditos atrasados: nenhum sweeper roda', 'verdicts are overdue: no sweeper is running'],
      }
    : {
        role: 'sweeper',
        health: 'ok',
        detail: ['nenhum veredito atrasado', 'no verdict is overdue'],
      };
