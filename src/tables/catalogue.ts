import type { Catalogue, CatalogueLine } from '../domain/company/line-selection.js';
import { unmetDemandOf } from '../domain/company/unsupported-services.js';
import { once, readTable } from './tsv.js';

const serviceCodes = once(
  () =>
    new Map(
      readTable('service-codes.tsv', ['code', 'description']).map(({ code, description }) => [code, description]),
    ),
);

const nbsCodes = once(() => new Set(readTable('nbs.tsv', ['code']).map(({ code }) => code)));

const lines = once(() => {
  const byCnae = new Map<string, CatalogueLine[]>();
  for (const { cnae, service_code, nbs, is_default } of readTable('catalogue.tsv', [
    'cnae',
    'service_code',
    'nbs',
    'is_default',
  ])) {
    const line: CatalogueLine = {
      cnae,
      serviceCode: service_code,
      ...(nbs === '' ? {} : { nbs }),
      description: serviceCodeDescription(service_code) ?? service_code,
      isDefault: is_default === 'true',
      isBlocked: unmetDemandOf(service_code) !== undefined,
    };
    byCnae.set(cnae, [...(byCnae.get(cnae) ?? []), line]);
  }
  return byCnae;
});

export const serviceCodeDescription = (code: string): string | undefined => serviceCodes().get(code);

/** The catalogue that the product ships; no line of it has been confirmed by an operator. */
export const shippedCatalogue: Catalogue = {
  linesOf: (cnae) => lines().get(cnae) ?? [],
  isServiceCode: (code) => serviceCodes().has(code),
  isNbs: (code) => nbsCodes().has(code),
};
