import { type CompanyId, dpsStream, type Mode, modes } from '../../../domain/common/ids.js';
import type { Instant } from '../../../domain/common/time.js';
import type { Company } from '../../../domain/company/company.js';
import type { DpsNumberEvent } from '../../../domain/dps-number/events.js';
import { inGroups } from '../../../lib/in-groups.js';
import type { EventStore } from '../../event-store/event-store.js';

/** A series that sends nothing until an operator moves it (docs/architecture.md#never-twice). */
export type StoppedSeries = { companyId: CompanyId; mode: Mode; series: string; since: Instant };

/** What a stopped series is, and the operator's command that moves it, as a check and a list of waiting work say them. */
export const stoppedTexts = ({ mode, series }: Pick<StoppedSeries, 'mode' | 'series'>) => ({
  detail: `series ${series} is stopped: a note that is not ours has one of its numbers`,
  command: `nfse company put FILE.json with a dps.${mode}.next_number after every note of the series`,
});

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
    return last?.type === 'DpsSeriesBlocked' ? [{ companyId, mode, series, since: last.data.at }] : [];
  });
  return stopped.flat();
};
