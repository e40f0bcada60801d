import { type CompanyId, dpsStream, type Mode, modes } from '../../../domain/common/ids.js';
import type { Instant } from '../../../domain/common/time.js';
import type { Company } from '../../../domain/company/company.js';
import { isUsedUp } from '../../../domain/dps-number/dps-number.js';
import type { DpsNumberEvent } from '../../../domain/dps-number/events.js';
import { inGroups } from '../../../lib/in-groups.js';
import type { EventStore } from '../../event-store/event-store.js';

/**
 * A series that sends nothing until an operator moves it (docs/architecture.md#never-twice), or names another one, when it is used up (its last
 * number was given).
 */
export type StoppedSeries = { companyId: CompanyId; mode: Mode; series: string; isUsedUp: boolean; since: Instant };

/** Why a series is stopped, and the operator's command that helps, as a check and a list of waiting work say them. */
export const stoppedTexts = ({ mode, series, isUsedUp }: Pick<StoppedSeries, 'mode' | 'series' | 'isUsedUp'>) =>
  isUsedUp
    ? {
        detail: `series ${series} is used up: its last number was given`,
        command: `nfse company put FILE.json with another dps.${mode}.series`,
      }
    : {
        detail: `series ${series} is stopped: a note that is not ours has one of its numbers; first compare it at the national portal`,
        // A later number over an older copy of the log would issue again what the log has forgotten.
        command: `where a copy of the log or of DATA_DIR was put back: nfse restore --mark, then nfse doctor --reconcile; else nfse company put FILE.json with a dps.${mode}.next_number after every note of the series`,
      };

/** Reads that run at once. */
const READS = 8;

/** The stopped series of these companies, among the series in use. Reads the last event of each series. */
export const stoppedSeries = async (
  companies: readonly Pick<Company, 'registration'>[],
  store: Pick<EventStore, 'load'>,
): Promise<readonly StoppedSeries[]> => {
  const used = companies.flatMap(({ registration: { cnpj, dps } }) =>
    modes.map((mode) => ({ companyId: cnpj, mode, series: dps[mode].series })),
  );
  const stopped = await inGroups(READS, used, async ({ companyId, mode, series }) => {
    const stream = dpsStream(mode, companyId, series);
    const { events } = await store.load<DpsNumberEvent>(stream, { direction: 'backwards', limit: 1 });
    const [last] = events;
    if (last === undefined) return [];
    const isEnded = isUsedUp(last.data);
    const isStopped = isEnded || last.type === 'DpsSeriesBlocked';
    return isStopped ? [{ companyId, mode, series, isUsedUp: isEnded, since: last.data.at }] : [];
  });
  return stopped.flat();
};
