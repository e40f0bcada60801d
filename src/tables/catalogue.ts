import type { CatalogueLine } from '../domain/catalog/events.js';
import type { Classification, Classifications } from '../domain/common/classification.js';
import { type AnnexVIII, fromAnnex, type IbsCbsOptions, type IbsCbsTables } from '../domain/company/ibs-cbs.js';
import type { Catalogue } from '../domain/company/line-selection.js';
import { unmetDemandOf } from '../domain/company/service-rules.js';
import { grouped, lazy, lazyByKey, readTable } from './tsv.js';

/** The values of one column of a table by its codes. */
const byCode = <Column extends string>(file: string, value: Column) =>
  lazy(() => new Map(readTable(file, ['code', value]).map((row) => [row.code, row[value]])));

const serviceCodes = byCode('service-codes.tsv', 'description');

const nbsCodes = byCode('nbs.tsv', 'description');

const rowsOfCnaes = lazy(() => {
  const rows = readTable('catalogue.tsv', ['cnae', 'service_code', 'nbs', 'is_default']);
  return grouped(rows, 'cnae');
});

/** The lines of one CNAE; looking up in Anexo VIII for the lines of all would take a part of a start. */
const linesOf = lazyByKey((cnae) =>
  rowsOfCnaes()
    .get(cnae)
    ?.map(
      ({ service_code, nbs, is_default }): CatalogueLine => ({
        cnae,
        serviceCode: service_code,
        ...(nbs === '' ? {} : { nbs, ...fromAnnex(service_code, nbs, annexVIII) }),
        description: serviceCodeDescription(service_code) ?? service_code,
        isDefault: is_default === 'true',
        isBlocked: unmetDemandOf(service_code) !== undefined,
      }),
    ),
);

export const serviceCodeDescription = (code: string): string | undefined => serviceCodes().get(code);

/** Text of an NBS 2.0 leaf code, nine digits; undefined for another code. */
export const nbsDescription = (code: string): string | undefined => nbsCodes().get(code);

/** The catalogue that the product ships; no line of it has been confirmed by an operator. */
export const shippedCatalogue: Catalogue = {
  linesOf: (cnae) => linesOf(cnae) ?? [],
  isServiceCode: (code) => serviceCodes().has(code),
  isNbs: (code) => nbsCodes().has(code),
};

/** The CNAEs of the shipped catalogue. */
export const shippedCnaes = (): Iterable<string> => rowsOfCnaes().keys();

const options = lazy(() => {
  const byLine = new Map<string, IbsCbsOptions>();
  for (const { service_code, nbs, ind_op, class_trib } of readTable('annex-viii.tsv', [
    'service_code',
    'nbs',
    'ind_op',
    'class_trib',
  ])) {
    byLine.set(lineKey(service_code, nbs), { cIndOp: ind_op.split(' '), cClassTrib: class_trib.split(' ') });
  }
  return byLine;
});

/** The operation indicators and tax classifications of Anexo VIII for a service under an NBS code. */
export const annexVIII: AnnexVIII = (serviceCode, nbs) => options().get(lineKey(serviceCode, nbs));

const lineKey = (serviceCode: string, nbs: string): string => `${serviceCode} ${nbs}`;

const classifications = lazy(
  () =>
    new Map(
      readTable('class-trib.tsv', ['code', 'reduction_ibs', 'reduction_cbs', 'rate', 'asks_for_regular']).map(
        ({ code, reduction_ibs, reduction_cbs, rate, asks_for_regular }): [string, Classification] => [
          code,
          {
            reductionIbs: Number(reduction_ibs),
            reductionCbs: Number(reduction_cbs),
            rate: rate as Classification['rate'],
            asksForRegular: asks_for_regular === 'true',
          },
        ],
      ),
    ),
);

/** The tax classifications that a NFS-e may carry. */
export const classification: Classifications = (code) => classifications().get(code);

export const ibsCbsTables: IbsCbsTables = { annexVIII, classification };

/** The tables that a company file is checked against. */
export const companyFileTables = { isServiceCode: shippedCatalogue.isServiceCode, classification };

const countries = byCode('countries.tsv', 'name');

const currencies = byCode('currencies.tsv', 'central_bank_code');

/** ISO 3166-1 alpha-2 of the national table; `BR` and `XK` are not in it. */
export const isCustomerCountry = (code: string): boolean => countries().has(code);

export const isCurrency = (code: string): boolean => currencies().has(code);

export const currencyCodes = lazy((): readonly string[] => [...currencies().keys()].sort());

/** `tpMoeda`: the Central Bank's three digits, not the ISO number (docs/national-system.md#foreign-trade). Undefined for an unknown currency. */
export const centralBankCode = (currency: string): string | undefined => currencies().get(currency);
