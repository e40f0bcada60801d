import { type CompanyState, evolveCompany, initialCompany } from '../../src/domain/company/company.js';
import type { CompanyEvent } from '../../src/domain/company/events.js';
import type { Handlers, Recorded } from '../types.js';
import type { CompanyRow } from './schema.js';

const fold = (row: CompanyRow | undefined, event: Recorded<CompanyEvent>): CompanyRow => {
  const before = row === undefined ? initialCompany : (JSON.parse(row.state) as CompanyState);
  const state = evolveCompany(before, event);
  return {
    company_id: companyIdOf(event),
    revision: event.revision,
    enabled: state.kind === 'company' && state.enabled,
    state: JSON.stringify(state),
  };
};

/** The stream's name is `company-<CNPJ>`. */
export const companyIdOf = ({ stream }: Recorded<CompanyEvent>): string => stream.slice('company-'.length);

export const handlers = {
  CompanyRegistered: fold,
  CompanyChanged: fold,
  CompanyEnabled: fold,
  CompanyDisabled: fold,
  ApiKeyCreated: fold,
  ApiKeyRevoked: fold,
  CertificateStored: fold,
  CertificateOpened: fold,
} satisfies Handlers<CompanyRow, CompanyEvent>;
