import { randomUUID } from 'node:crypto';
import { moveNumber } from '../../domain/dps-number/dps-number.js';
import { dpsStream } from '../../domain/shared/ids.js';
import { lastNumbers } from '../issuer/allocate-number.js';
import type { ReconcileDeps, Walk } from './reconcile-deps.js';

/** Where the series goes on, so that no number of a note that was found is given again; undefined when it was there already. */
export const moveNumbersPast = async (
  { mode, companyId, series, nextNumber: start }: Omit<Walk, 'municipality' | 'taken'>,
  furthestFound: number,
  { store, clock, actor }: Pick<ReconcileDeps, 'store' | 'clock' | 'actor'>,
): Promise<number | undefined> => {
  const stream = dpsStream(mode, companyId, series);
  for (;;) {
    const { numbers, version } = await lastNumbers(stream, start, store);
    if (furthestFound < numbers.nextNumber) return undefined;
    const now = clock.now();
    const moved = moveNumber(numbers, furthestFound + 1, now);
    if ('refused' in moved) return undefined;
    const commandId = randomUUID();
    const context = { commandId, correlationId: commandId, causationId: commandId, actor, mode, companyId, now };
    const { ok } = await store.append(stream, version, moved.events, { ...context, site: 'reconcile_numbers' });
    if (ok) return furthestFound + 1;
  }
};
