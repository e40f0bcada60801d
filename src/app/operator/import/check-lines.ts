import { providerOfKey } from '../../../domain/common/access-key.js';
import { isCnpj } from '../../../domain/common/cnpj.js';
import { type CompanyId, parseInvoiceStream, publicInvoiceId } from '../../../domain/common/ids.js';
import { addSeconds, DAY_SECONDS, isBefore } from '../../../domain/common/time.js';
import { groupedBy } from '../../../lib/grouped-by.js';
import { inGroups } from '../../../lib/in-groups.js';
import type { KeyHolder } from '../../../ports/read-model.js';
import type { EventStore } from '../../event-store/event-store.js';
import { loadCompany } from '../company/company-commands.js';
import { type ImportProblems, LINES_AT_ONCE, type Numbered } from './import-problems.js';
import { isOnRecord } from './notes-met.js';
import {
  holdersOfKeys,
  type KeyHoldersDeps,
  type Unsettled,
  type UnsettledDeps,
  unsettledInvoices,
} from './notes-on-record.js';

/** Reports the lines whose company is not registered. */
export const checkCompanies = async (
  plans: readonly Numbered[],
  deps: { store: EventStore },
  problems: ImportProblems,
): Promise<void> => {
  const named = [...new Set(plans.map(({ plan }) => plan.data.companyId))];
  const unknown = await inGroups(LINES_AT_ONCE, named, async (companyId) => {
    const { state } = await loadCompany(companyId, deps.store);
    return state.kind === 'none' ? [companyId] : [];
  });
  const missing = new Set(unknown.flat());
  for (const { number, plan } of plans) {
    const { companyId } = plan.data;
    if (missing.has(companyId)) problems.report(number, [notRegistered(companyId)]);
  }
};

const notRegistered = (companyId: CompanyId): string =>
  isCnpj(companyId)
    ? `cnpj ${companyId} is no registered company: nfse company put FILE.json`
    : `cnpj ${companyId} has wrong check digits`;

/**
 * One note is one invoice: a key that another invoice of the mode holds is refused. An invoice of another company does not refuse the line of the
 * company whose CNPJ is in the key, because its import was the mistake, and refuses no repeated request of this company.
 */
export const checkAccessKeys = async (
  plans: readonly Numbered[],
  deps: KeyHoldersDeps,
  problems: ImportProblems,
): Promise<void> => {
  const keys = plans.flatMap(({ plan }) => plan.data.accessKey ?? []);
  const holders = groupedBy(await holdersOfKeys(keys, deps), (one) => one.accessKey);
  for (const { number, plan } of plans) {
    const { mode, companyId, accessKey = '' } = plan.data;
    const isOfThisCompany = providerOfKey(accessKey) === companyId;
    const refuses = ({ stream }: KeyHolder): boolean => {
      const holder = parseInvoiceStream(stream);
      return stream !== plan.stream && holder?.mode === mode && (!isOfThisCompany || holder.companyId === companyId);
    };
    if (holders.get(accessKey)?.some(refuses) === true) problems.report(number, [KEY_ON_RECORD]);
  }
};

const KEY_ON_RECORD =
  'access_key is that of an invoice on record: leave the line out, or give it without access_key and xml_file to reserve its reference';

/** The authorizer's clock and an instant that a person typed may be this far before our own clock. */
const CLOCK_SLACK_SECONDS = 3_600;

/** A log that had lost its end may have given the number of an earlier note to the invoice: as long after it as the log is looked through for such numbers. */
const EARLIER_NOTE_SECONDS = 7 * DAY_SECONDS;

/**
 * Without its XML a live note does not name its DPS, so it may be that of an unsettled invoice that was sent before it and has its amount; or it may stand
 * under the number of an indeterminate one that was sent later, and so hold another DPS.
 */
export const checkUnsettled = async (
  plans: readonly Numbered[],
  deps: UnsettledDeps & { otherSales: readonly string[] },
  problems: ImportProblems,
): Promise<void> => {
  const doubtful = plans.filter(({ plan: { liveKey, dps } }) => liveKey !== undefined && dps === undefined);
  for (const companyId of new Set(doubtful.map(({ plan }) => plan.data.companyId))) {
    const own = doubtful.filter(({ plan }) => plan.data.companyId === companyId);
    const unsettled = await unsettledInvoices(companyId, new Set(own.map(({ plan }) => plan.data.amountInCents)), deps);
    for (const { number, plan } of own) {
      const { invoiceId, amountInCents, accessKey = '', issuedAt, canceledAt } = plan.data;
      const lastly = issuedAt ?? canceledAt;
      const isSince = ({ firstSentAt }: Unsettled, seconds: number): boolean =>
        lastly === undefined || !isBefore(lastly, addSeconds(firstSentAt, -seconds));
      // A note that the invoice has met is not its own: what is to be said of it says `metLines`.
      const others = unsettled.filter(
        (one) => one.invoiceId !== invoiceId && one.amountInCents === amountInCents && !one.met.includes(accessKey),
      );
      const owner = others.find((one) => isSince(one, CLOCK_SLACK_SECONDS));
      const later = others.find((one) => one.isIndeterminate && isSince(one, EARLIER_NOTE_SECONDS));
      const mayBeThatOf = ({ invoiceId: id }: Unsettled): string =>
        `access_key may be that of ${publicInvoiceId(id)}, whose outcome is unknown: give xml_file`;
      if (owner !== undefined) problems.report(number, [mayBeThatOf(owner)]);
      else if (later !== undefined && !deps.otherSales.includes(accessKey) && !(await isOnRecord(plan, deps)))
        problems.report(number, [
          `${mayBeThatOf(later)}, or --other-sale ${accessKey} where the note is of another sale`,
        ]);
    }
  }
};
