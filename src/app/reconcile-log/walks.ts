import type { CompanyId, Mode } from '../../domain/shared/ids.js';
import { loadCompany } from '../company/company-commands.js';
import type { KnownWork } from './read-log.js';
import type { ReconcileDeps, Walk } from './reconcile-deps.js';

/** What need not be compared, and why nothing can come of it. */
export type Skipped = { companyId: CompanyId; mode?: Mode; why: string };

const modes: readonly Mode[] = ['live', 'test'];

/** One walk for each series that a company has or had, as far as the log tells; the log alone, for the read model may be another's. */
export const walksOf = async (
  { companies, series }: KnownWork,
  deps: ReconcileDeps,
): Promise<{ walks: readonly Walk[]; skipped: readonly Skipped[] }> => {
  const walks: Walk[] = [];
  const skipped: Skipped[] = [];
  for (const companyId of companies) {
    const { state } = await loadCompany(companyId, deps.store);
    if (state.kind !== 'company') continue;
    const municipality = deps.municipalityOf(state.registration);
    if (state.certificate === undefined || municipality === undefined) {
      const why = state.certificate === undefined ? 'it has no certificate' : 'its city is in no table';
      skipped.push({ companyId, why: `${why}, so it cannot issue` });
      continue;
    }
    for (const mode of modes) {
      if (deps.modesWithoutLedger.includes(mode)) {
        skipped.push({ companyId, mode, why: "the simulator's ledger is not here; its notes are no fiscal documents" });
        continue;
      }
      const start = state.registration.dps[mode];
      const own = series.filter((one) => one.companyId === companyId && one.mode === mode);
      const isBegun = own.some((one) => one.series === start.series);
      const all = isBegun ? own : [...own, { mode, companyId, ...start, taken: [] }];
      walks.push(...all.map((one) => ({ ...one, municipality })));
    }
  }
  return { walks, skipped };
};
