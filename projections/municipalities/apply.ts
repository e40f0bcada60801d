import type { MunicipalityEvent } from '../../src/domain/municipality/demands.js';
import type { Handlers } from '../types.js';
import type { MunicipalityRow } from './schema.js';

export const handlers = {
  MunicipalityDemandsSet: (_row, { data, revision }) => ({
    ibge: data.ibge,
    revision,
    requires_customer: data.requiresCustomer ?? null,
    requires_registration: data.requiresRegistration ?? null,
  }),
} satisfies Handlers<MunicipalityRow, MunicipalityEvent>;
