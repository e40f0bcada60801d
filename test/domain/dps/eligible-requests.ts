import fc from 'fast-check';
import type { Registration } from '../../../src/domain/company/events.js';
import type { CatalogueLine } from '../../../src/domain/company/line-selection.js';
import { type Instant, instant } from '../../../src/domain/shared/time.js';
import type { RegistryAddress } from '../../../src/ports/tax-registry.js';
import { isCnpj, isCpf } from '../../../src/simulator/rules/check-digits.js';
import { annexVIII } from '../../../src/tables/annex-viii.js';
import { currencyCodes } from '../../../src/tables/foreign-trade.js';
import { readTable } from '../../../src/tables/tsv.js';

/** A request as the API gets it, and everything around it that decides about the document. */
export type Attempt = {
  body: Record<string, unknown>;
  registration: Registration;
  mode: 'live' | 'test';
  /** Of an operator; undefined for the shipped ones. */
  imported: CatalogueLine | undefined;
  cnae: string;
  serviceCode: string;
  registryAddress: RegistryAddress | undefined;
  acceptedAt: Instant;
};

const shipped = readTable('catalogue.tsv', ['cnae', 'service_code', 'nbs']);
const withNbs = shipped.filter(({ nbs }) => nbs !== '');
/** Lines whose IBS and CBS are settled, and lines whose ISSQN is due where they are performed: rare, so given a share. */
const settled = withNbs.filter(({ service_code, nbs }) => {
  const { cIndOp = [], cClassTrib = [] } = annexVIII(service_code, nbs) ?? {};
  return cIndOp.join() === '100301' && cClassTrib.join() === '000001';
});
const dueThere = withNbs.filter(({ service_code }) => /^(?:0709|0711|1101|1601|2001)/.test(service_code));

const lines = fc.oneof(fc.constantFrom(...withNbs), fc.constantFrom(...settled), fc.constantFrom(...dueThere));

const withDigits = (body: string, length: number, isValid: (document: string) => boolean): string | undefined =>
  Array.from({ length: 100 }, (_, digits) => `${body}${String(digits).padStart(2, '0')}`).find(
    (document) => document.length === length && isValid(document),
  );

const document = (body: RegExp, length: number, isValid: (document: string) => boolean) =>
  fc
    .stringMatching(body)
    .map((text) => withDigits(text, length, isValid))
    .filter((text) => text !== undefined);

const cpf = document(/^[0-9]{9}$/, 11, isCpf);
const cnpj = document(/^[0-9]{12}$/, 14, isCnpj);
/** Of the company also with letters; the API takes none from a customer yet (reading 34). */
const companyId = fc.oneof(cnpj, document(/^[0-9A-Z]{12}$/, 14, isCnpj));

/** Much of it is refused; what is let through has to be carried. */
const anyText = (max: number) =>
  fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: max }),
    fc.constantFrom(' São José\n“1ª” – etapa ', 'A & <B>', 'ł€ß', '\u{1F680} foguete', '  x', 'a\tb', 'I\u0301I'),
    fc.string({ minLength: max - 1, maxLength: max }),
  );

/** Three times in four, so that rare meetings of several of them happen in every run. */
const mostly = <T, U>(common: fc.Arbitrary<T>, rare: fc.Arbitrary<U>) =>
  fc.oneof({ weight: 3, arbitrary: common }, { weight: 1, arbitrary: rare });

const brCustomer = fc.oneof(
  fc.record({ type: fc.constant('br'), document: mostly(cnpj, cpf), name: anyText(300) }),
  fc.record({ type: fc.constant('br'), name: anyText(300) }),
  fc.record({ type: fc.constant('br'), document: cnpj }),
);

const latinText = fc.constantFrom('Main Street 1', 'ul. Łąkowa – 1', 'Æble & Øl', '1–A', ' x ');

const foreignCustomer = fc
  .record({
    name: anyText(300),
    identity: fc.oneof(
      anyText(40).map((tax_id) => ({ tax_id })),
      fc.constantFrom({ tax_id_absence_reason: 'exempt' }, { tax_id_absence_reason: 'not_required' }),
    ),
    address: fc.record({
      ...{ street: latinText, number: latinText, district: latinText, city: anyText(60), state: anyText(60) },
      ...{ postal_code: anyText(11), country: fc.constantFrom('US', 'PT', 'JP', 'AR') },
    }),
  })
  .map(({ identity, ...rest }) => ({ type: 'foreign', ...identity, ...rest }));

const cents = fc.oneof(fc.integer({ min: 100, max: 9_999_999 }), fc.constantFrom(100, Number.MAX_SAFE_INTEGER));

const customers = fc.oneof(
  fc.constant({}),
  brCustomer.map((customer) => ({ customer })),
  fc
    .tuple(foreignCustomer, cents, fc.constantFrom(...currencyCodes()))
    .map(([customer, amount, currency]) => ({ customer, foreign_amount: { amount_in_cents: amount, currency } })),
);

const registryAddress = fc.record(
  {
    street: mostly(latinText, anyText(60)),
    number: fc.constantFrom('10', 'S/N'),
    complement: mostly(latinText, anyText(20)),
    district: fc.constantFrom('Centro', 'Jardim “América”'),
    city: mostly(fc.constant('Niterói'), fc.constant('Nowhere')),
    state: fc.constant('RJ'),
    postalCode: mostly(fc.constant('24020077'), fc.constant('2402007')),
  },
  { requiredKeys: ['street', 'number', 'district', 'city', 'state', 'postalCode'] },
);

/** Around midnight in Brasília, UTC-3, of common days, of a month's end and of a year's end; or any time. */
const acceptedAt = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('2026-09-15', '2026-12-01', '2027-01-01', '2028-02-29', '2028-03-01'),
      fc.integer({ min: -90_000, max: 90_000 }),
    )
    .map(([day, offsetMs]) => instant(Date.parse(`${day}T03:00:00.000Z`) + offsetMs)),
  fc.integer({ min: Date.parse('2026-01-01T03:00:00Z'), max: Date.parse('2035-01-01T00:00:00Z') }).map(instant),
);

const percent = fc.tuple(fc.nat(99), fc.nat(99)).map(([whole, part]) => `${whole}.${String(part).padStart(2, '0')}`);

const issuer = fc.record(
  {
    taxRegime: fc.constantFrom('mei' as const, 'simples' as const, 'normal' as const, 'normal' as const),
    simplesAssessment: fc.constantFrom('all' as const, 'federal_only' as const, 'none' as const),
    specialRegime: fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 9),
    approximateTaxPercent: percent,
    im: fc.stringMatching(/^[0-9A-Za-z]{1,15}$/),
  },
  { requiredKeys: ['taxRegime', 'simplesAssessment', 'specialRegime'] },
);

export const attempts: fc.Arbitrary<Attempt> = fc
  .record({
    ...{ line: lines, companyId, issuer, customer: customers, amount: cents, description: anyText(2000), acceptedAt },
    mode: fc.constantFrom('live' as const, 'test' as const),
    municipalCode: fc.option(fc.constantFrom('001', '003', '999'), { nil: undefined }),
    isImported: fc.boolean(),
    registryAddress: fc.option(registryAddress, { nil: undefined }),
  })
  .map(({ line: { cnae, service_code: serviceCode, nbs }, issuer: { im, ...issuer }, ...rest }) => ({
    ...{ cnae, serviceCode, mode: rest.mode, acceptedAt: rest.acceptedAt, registryAddress: rest.registryAddress },
    body: { amount_in_cents: rest.amount, description: rest.description, ...rest.customer },
    imported: rest.isImported
      ? {
          ...{ cnae, serviceCode, nbs, description: 'Serviço', isDefault: true, isBlocked: false },
          ...(rest.municipalCode === undefined ? {} : { municipalCode: rest.municipalCode }),
        }
      : undefined,
    registration: {
      ...issuer,
      ...{ cnpj: rest.companyId, legalName: 'ESTUDIO EXEMPLO LTDA', city: 'Rio de Janeiro', state: 'RJ' },
      municipalRegistration: im === undefined ? {} : { live: im, test: im },
      dps: { live: { series: '1', nextNumber: 1 }, test: { series: '1', nextNumber: 1 } },
      activities: [{ cnae, isMain: true }],
      ...{ automaticIssuance: true, issuerConfigured: true, issuerApproved: true },
    },
  }));
