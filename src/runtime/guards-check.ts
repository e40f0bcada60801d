import { unreachable } from '../domain/shared/unreachable.js';
import type { GuardsStanding } from '../workers/guards-keeper.js';
import { shareOf } from '../workers/projection-status.js';

/** The check `guards` of `/health/ready`; docs/operations/lost-database.md says what to do. */
export const guardsCheck = (standing: GuardsStanding): { ok: boolean; reason?: string } => {
  switch (standing.kind) {
    case 'complete':
      return { ok: true };
    case 'unknown':
      return { ok: false, reason: 'not yet compared with the log' };
    case 'rebuilding':
      return { ok: false, reason: `rebuilding (${progressOf(standing)})` };
    case 'log set back':
      return {
        ok: false,
        reason: `the log ends at ${standing.head ?? 'nothing'}, before ${standing.furthest ?? 'what was seen'} that the database was made from: issuing is paused`,
      };
    default:
      return unreachable(standing);
  }
};

const progressOf = ({ position, upTo, waitsFor }: Extract<GuardsStanding, { kind: 'rebuilding' }>): string =>
  waitsFor === 'operator rows'
    ? 'waiting for the projector'
    : `${Math.floor(shareOf(position, upTo) * 100)} % of the log`;
