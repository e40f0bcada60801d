import { FAULT_KINDS, type FaultKind, type FaultTarget } from '../../src/simulator/state/faults.js';
import { UNCATALOGUED_CODE } from '../support/fixture/uncatalogued-code.js';

/** One fault as it is ordered for one invoice, once. */
export type Fault = {
  on: FaultTarget;
  kind: FaultKind;
  commit?: boolean;
  /** By the moved clock. */
  delaySeconds?: number;
  code?: string;
};

export const nameOf = ({ on, kind, commit, delaySeconds, code }: Fault): string => {
  const stored = commit === undefined ? '' : commit ? ', stored' : ', not stored';
  return `${on} ${kind}${code === UNCATALOGUED_CODE ? ` ${code}` : ''}${stored}${delaySeconds === undefined ? '' : ` for ${delaySeconds} s`}`;
};

/** Between the two look-ups that prove an absence, and after the resend that follows them. */
const LATE_SECONDS = [100, 400];
/** Until the second look-up, and for longer than the invoice's hour. */
const STALE_SECONDS = [100, 8_000];
/** Longer than any invoice of the matrix lives. */
const SLOW_SECONDS = 20_000;

/** Final for a send of this kind. */
const REFUSALS: Readonly<Record<FaultTarget, string>> = {
  issue: 'E0312',
  event: 'E0822',
  lookup: 'E0312',
  fetch: 'E0312',
  event_lookup: 'E0312',
  event_list: 'E0312',
};

const isWrite = (on: FaultTarget): boolean => on === 'issue' || on === 'event';

/** Every way in which this kind can strike there. */
const strikes = (on: FaultTarget, kind: FaultKind): readonly Fault[] => {
  switch (kind) {
    case 'late_commit':
      return isWrite(on)
        ? [{}, { code: UNCATALOGUED_CODE }].flatMap((answer) =>
            LATE_SECONDS.map((delaySeconds) => ({ on, kind, delaySeconds, ...answer })),
          )
        : [];
    case 'stale':
      return isWrite(on) ? STALE_SECONDS.map((delaySeconds) => ({ on, kind, delaySeconds })) : [{ on, kind }];
    case 'reject':
      return [REFUSALS[on], ...(isWrite(on) ? [UNCATALOGUED_CODE] : [])].map((code) => ({ on, kind, code }));
    case 'lost_after_commit':
    case 'lost_before_commit':
    case 'casing':
      return [{ on, kind }];
    case 'transient':
      return [...ways(on, { on, kind }), ...(isWrite(on) ? [{ on, kind, commit: true, code: UNCATALOGUED_CODE }] : [])];
    case 'slow':
      return ways(on, { on, kind, delaySeconds: SLOW_SECONDS });
    default:
      return ways(on, { on, kind });
  }
};

/** Whether something is stored is a question only where something can be. */
const ways = (on: FaultTarget, fault: Fault): readonly Fault[] =>
  isWrite(on) ? [true, false].map((commit) => ({ ...fault, commit })) : [fault];

export const faultsOn = (...targets: readonly FaultTarget[]): readonly Fault[] =>
  targets.flatMap((on) => FAULT_KINDS.flatMap((kind) => strikes(on, kind)));

/** What happens to one invoice: faults in the order in which they are met, and whether its issuer dies at the first one. */
export type Plan = { faults: readonly Fault[]; dies: FaultTarget | undefined };

const ANSWER_LOST = { kind: 'lost_after_commit' } as const;

/** A look-up takes place only when an answer was lost: without a fault that loses it, one is added before. */
export const planOf = (faults: readonly Fault[], dies: boolean): Plan => {
  const needs = (read: readonly FaultTarget[], write: FaultTarget): readonly Fault[] =>
    faults.some(({ on }) => read.includes(on)) && !faults.some(({ on }) => on === write)
      ? [{ on: write, ...ANSWER_LOST }]
      : [];
  const all = [...needs(['lookup', 'fetch'], 'issue'), ...needs(['event_lookup'], 'event'), ...faults];
  return { faults: all, dies: dies ? faults[0]?.on : undefined };
};

export const isCanceledIn = ({ faults }: Plan): boolean =>
  faults.some(({ on }) => on === 'event' || on === 'event_lookup');
