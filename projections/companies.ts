import { type CompanyId, companyPrefix } from '../src/domain/common/ids.js';
import { type CompanyState, companyFold } from '../src/domain/company/company.js';
import { type CompanyEvent, companyEventTypes } from '../src/domain/company/events.js';
import type { Revision } from '../src/ports/event-log.js';
import { boolean, defineProjection, everyType, integer, type Recorded, type RowOf, text } from './types.js';

const columns = {
  company_id: text<CompanyId>(),
  revision: integer<Revision>(),
  enabled: boolean(),
  /** JSON of the domain's folded state. */
  state: text(),
};

/** One company. */
export type CompanyRow = RowOf<typeof columns>;

const fold = (row: CompanyRow | undefined, event: Recorded<CompanyEvent>): CompanyRow => {
  const before = row === undefined ? companyFold.initial : (JSON.parse(row.state) as CompanyState);
  const state = companyFold.evolve(before, event);
  return {
    company_id: companyIdOf(event),
    revision: event.revision,
    enabled: state.kind === 'company' && state.enabled,
    state: JSON.stringify(state),
  };
};

/** The CNPJ: the stream's name is `company-<CNPJ>`. */
const companyIdOf = ({ stream }: Recorded<CompanyEvent>): string => stream.slice(companyPrefix.length);

/** Company facts for eligibility and for the operator's lists. */
export const companies = defineProjection<CompanyRow, CompanyEvent>({
  name: 'companies',
  version: 1,
  prefixes: [companyPrefix],
  eventTypes: companyEventTypes,
  keyColumn: 'company_id',
  columns,
  indexes: [],
  keyOf: companyIdOf,
  handlers: everyType(companyEventTypes, fold),
});
