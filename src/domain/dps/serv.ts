import type { ForeignAmount, ServiceLine } from '../invoice/facts.js';
import { type Canonical, element, field } from '../shared/canonical-xml.js';
import { type CurrencyCode, comExt } from './comExt.js';
import { cServ } from './cServ.js';

/**
 * `serv`: `locPrest`, always the provider's own municipality, as the API has no field for another place (E0302); the service;
 * foreign trade for a customer abroad (E0330). `obra` (E0370) and `atvEvento` (E0390) are never here: lines of services that
 * demand them are not released (`src/domain/company/unsupported-services.ts`).
 */
export const serv = (
  municipality: string,
  line: ServiceLine,
  description: string,
  foreignAmount: ForeignAmount | undefined,
  currencyCode: CurrencyCode,
): Canonical =>
  element(
    'serv',
    element('locPrest', field('cLocPrestacao', municipality)),
    cServ(line, description),
    foreignAmount === undefined ? undefined : comExt(foreignAmount, currencyCode),
  );
