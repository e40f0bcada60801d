import type { DifferenceKind } from '../../domain/invoice/reconciliation.js';
import type { Mode, StreamName } from '../../domain/shared/ids.js';
import type { Walks } from '../../ports/reconciliation.js';
import type { IssuerDeps } from '../issuer/deps.js';

export type ReconcileSettings = {
  /** Issued invoices looked at in a round, of a hundred; 0 switches the walk off. */
  samplePercent: number;
  /** From the beginning of one round to that of the next. */
  roundSeconds: number;
  /** Younger ones are left alone: their last event must be so old. */
  settledSeconds: number;
  /** Older ones are no longer looked at. */
  reachSeconds: number;
};

/** What became of one look at an invoice. */
export type LookResult = 'agrees' | 'differs' | 'absent_once' | 'inconclusive' | 'left_alone';

export type ReconcileDeps = Pick<IssuerDeps, 'store' | 'authorizer' | 'clock' | 'limits' | 'actor' | 'notify'> & {
  walks: Walks;
  settings: ReconcileSettings;
  onLook(mode: Mode, result: LookResult): void;
  /** Told once per difference, by the process that recorded it. */
  onDifference(stream: StreamName, kind: DifferenceKind): void;
};
