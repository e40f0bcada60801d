import { type CompanyId, companyStream } from '../../domain/common/ids.js';
import { companyFold, keepDisabled } from '../../domain/company/company.js';
import { operatorContext } from '../event-store/command-context.js';
import { transact } from '../event-store/transact.js';
import { loadCompany } from '../operator/company/company-commands.js';
import type { RecoveryDeps } from './ask-series.js';

/** Why issuing stays paused when one of the companies that were not compared is enabled; undefined when none is. */
export const refusalOfEnabled = async (
  companies: readonly CompanyId[],
  store: RecoveryDeps['store'],
): Promise<string | undefined> => {
  for (const companyId of companies) {
    const { state } = await loadCompany(companyId, store);
    if (state.kind === 'company' && state.enabled) return enabledMeanwhile(companyId);
  }
  return undefined;
};

/**
 * Appends to the stream of each company that `LogRecovered` holds, after that event and before issuing resumes. A `company enable` that has not seen
 * `LogRecovered` is therefore either before this append, which then is refused, or loses the race for the stream. Returns why issuing stays paused.
 */
export const holdCompanies = async (
  companies: readonly CompanyId[],
  { store, clock, actor }: Pick<RecoveryDeps, 'store' | 'clock' | 'actor'>,
): Promise<string | undefined> => {
  for (const companyId of companies) {
    const outcome = await transact(
      {
        stream: companyStream(companyId),
        read: 'opened',
        fold: companyFold,
        decide: (state, { now }) => keepDisabled(state, now),
        context: operatorContext('operate_company', { actor, companyId }),
      },
      { store, clock },
    );
    if (outcome.kind === 'refused') return enabledMeanwhile(companyId);
  }
  return undefined;
};

const enabledMeanwhile = (companyId: CompanyId): string =>
  `company ${companyId} was enabled during the comparison, which did not ask for its notes, so issuing stays paused: nfse doctor --reconcile again asks for them; or nfse company disable ${companyId} first, and the company stays disabled`;
