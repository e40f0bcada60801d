import type { Instant } from '../../domain/shared/time.js';
import type { Clock } from '../../ports/clock.js';
import type { EventLog } from '../../ports/event-log.js';
import type { ReadModel } from '../../ports/read-model.js';
import type { SealingKeys } from '../../ports/sealing-keys.js';
import { recordReveal } from '../audit/reveal.js';
import type { WalkProgress } from '../audit/walk.js';
import type { EventStore } from '../event-store/event-store.js';
import { describeInvoice, type InvoicePlaces } from './describe-invoice.js';
import { documentMark, mentions, type PersonalDocument } from './document.js';
import { type FoundPlaces, findInvoices } from './find-invoices.js';
import { type Holding, holdings } from './holdings.js';

export type PrivacyReport = {
  /** `mark` stands for the document where the report is on record: a keyed hash. */
  document: { kind: PersonalDocument['kind']; mark: string };
  at: Instant;
  totals: FoundPlaces['totals'];
  /** The first of them, by the order of the log. */
  invoices: readonly InvoicePlaces[];
  registry: FoundPlaces['registry'];
  /** Companies of this service whose number it is, or whose legal name holds it (a MEI's may). Theirs is not sealed. */
  companies: readonly string[];
  unreadable: number;
  holdings: readonly Holding[];
};

export type PrivacyDeps = {
  log: Pick<EventLog, 'readAll' | 'read' | 'head'>;
  store: EventStore;
  readModel: Pick<ReadModel, 'invoice' | 'companies'>;
  sealingKeys: SealingKeys;
  clock: Clock;
  testRetentionSeconds: number;
  actor: `support:${string}`;
  onProgress?(progress: WalkProgress): void;
};

/**
 * Where a person's document stands, why and until when, for a request of the data subject. It goes on record with the actor
 * before anything is opened; neither the record nor the answer holds the document or anything that was opened.
 */
export const reportOn = async (
  document: PersonalDocument,
  limit: number,
  deps: PrivacyDeps,
): Promise<PrivacyReport> => {
  const { log, store, clock, actor, sealingKeys: keys, readModel } = deps;
  const mark = await documentMark(document, keys, clock);
  await recordReveal({ command: 'privacy report', subject: `document ${mark}` }, { store, clock, actor });
  const progress = deps.onProgress === undefined ? {} : { onProgress: deps.onProgress };
  const found = await findInvoices(document, limit, { log, keys, ...progress });
  const invoices: InvoicePlaces[] = [];
  for (const one of found.invoices) invoices.push(await describeInvoice(one, deps));
  const companies = (await readModel.companies()).flatMap((company) => {
    if (company.kind !== 'company') return [];
    const { cnpj, legalName } = company.registration;
    return cnpj === document.text || mentions(legalName, document) ? [cnpj] : [];
  });
  const { totals, registry, unreadable } = found;
  return {
    document: { kind: document.kind, mark },
    at: clock.now(),
    ...{ totals, invoices, registry, companies, unreadable, holdings },
  };
};
