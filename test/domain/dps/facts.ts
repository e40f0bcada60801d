import fc from 'fast-check';
import { transliterate } from '../../../src/domain/dps/transliterate.js';
import type { InvoiceEventData } from '../../../src/domain/invoice/events.js';
import { brasiliaDate, instant } from '../../../src/domain/shared/time.js';

export type Accepted = InvoiceEventData<'InvoiceAccepted'>;

/** The acceptance behind sample dps-02; tests change what they are about. */
export const acceptedFacts = (changes: Partial<Accepted> = {}): Accepted => ({
  mode: 'test',
  companyId: '12345678000195',
  invoiceId: '0b8e4f4e-8f2a-8b6e-9f43-5a9f0d4d4a01',
  amountInCents: 8000,
  description: 'Aula avulsa de natação',
  competence: '2026-09-15',
  line: { cnae: '8591100', serviceCode: '060401' },
  issuer: {
    municipality: '2111300',
    taxRegime: 'simples',
    simplesAssessment: 'all',
    specialRegime: 0,
    approximateTaxPercent: '6.00',
    municipalRegistration: '1234567',
  },
  acceptedAt: '2026-09-15T13:31:00.000Z',
  fingerprint: `hmac:1:m1.0123456789abcdef:${'f'.repeat(43)}`,
  ...changes,
});

const digits = (length: number) =>
  fc.stringMatching(new RegExp(`^[0-9]{${length}}$`)).filter((text) => text.length === length);

/** What acceptance lets through: no control characters but line breaks, not blank, at most `max` code points. */
const free = (max: number) =>
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: max })
    .map((text) => text.replace(/[^\n\u{20}-\u{7E}\u{A0}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, 'x'))
    .filter((text) => text.trim() !== '' && [...text].length <= max);

const latin = (max: number) =>
  free(max).filter((text) => {
    const carried = transliterate(text);
    return carried !== undefined && carried !== '' && carried.length <= max;
  });

const percent = fc.tuple(fc.nat(99), fc.nat(99)).map(([whole, part]) => `${whole}.${String(part).padStart(2, '0')}`);

const domestic = fc.oneof(
  fc.record({ type: fc.constant('br' as const), document: fc.oneof(digits(11), digits(14)), name: free(300) }),
  fc.record({ type: fc.constant('br' as const), name: free(300) }),
);

const address = fc.record({
  street: latin(255),
  number: latin(60),
  district: latin(60),
  city: free(60),
  state: free(60),
  postalCode: free(11),
  country: fc.constantFrom('US', 'PT', 'JP'),
});

const foreign = fc.oneof(
  fc.record({ type: fc.constant('foreign' as const), taxId: free(40), name: free(300), address }),
  fc.record({
    type: fc.constant('foreign' as const),
    taxIdAbsenceReason: fc.constantFrom('exempt' as const, 'not_required' as const),
    name: free(300),
    address,
  }),
);

const cents = fc.integer({ min: 1, max: 1_000_000_000_000 });

const customers = fc.oneof(
  fc.constant({}),
  domestic.map((customer) => ({ customer })),
  fc.tuple(foreign, cents, fc.constantFrom('USD', 'EUR')).map(([customer, amountInCents, currency]) => ({
    customer,
    foreignAmount: { currency, amountInCents },
  })),
);

const issuers = fc.record(
  {
    municipality: digits(7),
    taxRegime: fc.constantFrom('mei' as const, 'simples' as const, 'normal' as const),
    simplesAssessment: fc.constantFrom('all' as const, 'federal_only' as const, 'none' as const),
    specialRegime: fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 9),
    approximateTaxPercent: percent,
    municipalRegistration: digits(8),
  },
  { requiredKeys: ['municipality', 'taxRegime', 'simplesAssessment', 'specialRegime'] },
);

const lines = fc.record(
  { cnae: digits(7), serviceCode: digits(6), nbs: digits(9), municipalCode: digits(3) },
  { requiredKeys: ['cnae', 'serviceCode'] },
);

/** Any acceptance that the API may record. */
export const anyAccepted: fc.Arbitrary<Accepted> = fc
  .record({
    mode: fc.constantFrom('live' as const, 'test' as const),
    companyId: fc.oneof(digits(14), fc.stringMatching(/^[0-9A-Z]{12}[0-9]{2}$/)),
    amountInCents: cents,
    description: free(1000),
    issuer: issuers,
    line: lines,
    customer: customers,
    at: fc.integer({ min: Date.parse('2026-01-01T00:00:00Z'), max: Date.parse('2035-01-01T00:00:00Z') }),
  })
  .map(({ customer, at, ...rest }) =>
    acceptedFacts({ ...rest, ...customer, acceptedAt: instant(at), competence: brasiliaDate(instant(at)) }),
  );
