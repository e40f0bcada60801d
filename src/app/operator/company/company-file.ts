import * as v from 'valibot';
import { type Mode, modes } from '../../../domain/common/ids.js';
import { present } from '../../../domain/common/present.js';
import type { Registration } from '../../../domain/company/events.js';
import { MAX_SOFTWARE_SERIES } from '../../../domain/dps-number/dps-number.js';
import {
  cnpj,
  coded,
  day,
  explained,
  type FileTables,
  fileText,
  shaped,
  stateCode,
  tooMuchForEvent,
} from '../file-text.js';
import { ibsCbsOf, ibsCbsProblems, ibsCbsSection } from './ibs-cbs-section.js';

const name = fileText(300);

const series = v.pipe(
  shaped(/^[1-9]\d{0,4}$/, 'must be a number without leading zeros'),
  v.check((text) => Number(text) <= MAX_SOFTWARE_SERIES, 'must be from 1 to 49999'),
);

const dpsStart = v.strictObject({
  series: explained(series, 'series of the DPS, 1 to 49999: one that no other program uses', '1'),
  next_number: explained(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(999_999_999_999_999)),
    'next number of the series; it can only be moved forward',
    1,
  ),
});

const registration = shaped(/^[0-9A-Za-z./-]{1,15}$/, 'must be 1 to 15 letters, digits, points, slashes or dashes');

/** By national service code: `{ "010401": "003" }`. 000 would be refused (E0315). */
const municipalCodes = v.record(
  coded('must be named by a service code of 6 digits', 'serviceCode'),
  shaped(/^(?!000)\d{3}$/, 'must be 3 digits other than 000'),
);

const taxPercent = shaped(/^(0|[1-9]\d?)\.\d{2}$/, 'must be a percent such as 6.00');

const approximateTaxes = v.pipe(
  v.array(
    v.strictObject({
      from: explained(day, 'first competence of the percentages', '2027-01-01'),
      until: v.optional(
        explained(day, 'last competence of the percentages; without it they have no end', '2027-06-30'),
      ),
      service_code: v.optional(
        explained(
          coded('must be 6 digits', 'serviceCode'),
          'service code; without it the row counts for all others',
          '010101',
        ),
      ),
      federal: explained(taxPercent, 'percent that goes to the Union', '13.45'),
      state: explained(taxPercent, 'percent that goes to the state', '0.00'),
      municipal: explained(taxPercent, 'percent that goes to the municipality', '2.90'),
    }),
  ),
  v.check(
    (rows) => rows.every(({ from, until }) => until === undefined || from <= until),
    'has a row that ends before it begins',
  ),
  v.check(
    (rows) => !rows.some((row, at) => rows.slice(at + 1).some((other) => overlap(row, other))),
    'has two rows of a service for one day',
  ),
);

type Row = { from: string; until?: string | undefined; service_code?: string | undefined };

const overlap = (one: Row, other: Row): boolean =>
  one.service_code === other.service_code &&
  one.from <= (other.until ?? '9999-12-31') &&
  other.from <= (one.until ?? '9999-12-31');

const activity = v.strictObject({
  cnae: explained(coded('must be 7 digits', 'cnae'), 'CNAE of the activity, with or without mask', '6201501'),
  is_main: explained(v.boolean(), 'whether it is the main activity; exactly one is', true),
});

/** The company file as its reader takes it. */
export const companyFile = v.strictObject({
  cnpj: explained(cnpj, 'CNPJ of the company, with or without mask', '12345678000195'),
  legal_name: explained(name, 'legal name, as in the CNPJ register', 'ESTUDIO EXEMPLO LTDA'),
  city: explained(name, 'city of the company; without accents and in any case too', 'Rio de Janeiro'),
  state: stateCode,
  tax_regime: explained(
    v.picklist(['mei', 'simples', 'normal'], 'must be mei, simples or normal'),
    'tax regime: MEI, Simples Nacional (ME or EPP), or neither',
    'simples',
  ),
  simples_assessment: v.optional(
    explained(
      v.picklist(['all', 'federal_only', 'none'], 'must be all, federal_only or none'),
      'which taxes Simples Nacional assesses: all of them, the federal ones only (ISSQN apart), or none; counts for simples only, where all is assumed',
      'all',
    ),
  ),
  special_regime: v.optional(
    explained(
      v.picklist([0, 1, 2, 3, 4, 5, 6, 9], 'must be 0 to 6 or 9'),
      'special regime of the municipality, as the DPS numbers it; 0 is none',
      0,
    ),
    0,
  ),
  approximate_tax_percent: v.optional(
    explained(
      taxPercent,
      'approximate taxes in percent with two decimals (Lei 12.741); without it every note declares 0.00',
      '6.00',
    ),
  ),
  approximate_taxes: v.optional(approximateTaxes),
  municipal_registration: v.optional(
    v.strictObject({
      live: explained(
        v.nullish(registration),
        'municipal registration (inscrição municipal); null: none on file',
        '12345678',
      ),
      test: explained(v.nullish(registration), 'the same in the restricted environment', null),
    }),
    {},
  ),
  dps: v.optional(v.strictObject({ live: v.optional(dpsStart), test: v.optional(dpsStart) }), {}),
  municipal_codes: v.optional(
    explained(
      municipalCodes,
      'municipal code (3 digits) by service code, where the municipality administers several codes of a service',
      { '010101': '003' },
    ),
  ),
  activities: v.pipe(
    v.array(activity),
    v.minLength(1, 'must name at least one activity'),
    v.check((all) => all.filter((one) => one.is_main).length === 1, 'must have exactly one main activity'),
    v.check((all) => new Set(all.map((one) => one.cnae)).size === all.length, 'must not name a CNAE twice'),
  ),
  ibs_cbs: v.optional(ibsCbsSection),
  automatic_issuance: explained(v.boolean(), 'whether the company issues by program; false: 422', true),
  issuer_configured: explained(v.boolean(), 'whether its issuer is configured; false: 422', true),
  issuer_approved: explained(v.boolean(), 'whether its issuer is approved; false: 422', true),
});

export type CompanyFileRead = { registration: Registration; modesWithoutSeries: readonly Mode[] };

/**
 * Reads a company file; unknown fields and bad values are refused, each by its name. `modesWithoutSeries`: modes whose `dps` the file leaves out; the
 * registration has the beginning of a new company there.
 */
export const parseCompanyFile = (
  json: unknown,
  tables: FileTables,
): CompanyFileRead | { problems: readonly string[] } => {
  const parsed = v.safeParse(companyFile, json);
  if (!parsed.success) {
    const unknown = unknownKeys(json).map((key) => `${key} is not a field of a company file`);
    const wrong = parsed.issues.map((issue) => {
      const isUnknown = issue.type === 'strict_object' && issue.expected === 'never';
      return `${v.getDotPath(issue) ?? 'the file'} ${isUnknown ? 'is not a field of a company file' : plain(issue)}`;
    });
    return { problems: [...new Set([...unknown, ...wrong])] };
  }
  const file = parsed.output;
  const problems = [...ibsCbsProblems(file.ibs_cbs, tables), ...twiceNamed(json, file.municipal_codes)];
  if (problems.length > 0) return { problems };
  const registration = registrationOf(file);
  const tooMuch = tooMuchForEvent(registration);
  if (tooMuch !== undefined) return { problems: [`the file has ${tooMuch}: leave out what the company does not use`] };
  return { registration, modesWithoutSeries: modes.filter((mode) => file.dps[mode] === undefined) };
};

const registrationOf = (file: v.InferOutput<typeof companyFile>): Registration => {
  const start = { series: '1', next_number: 1 };
  const { live = start, test = start } = file.dps;
  return present({
    cnpj: file.cnpj,
    legalName: file.legal_name,
    city: file.city,
    state: file.state,
    taxRegime: file.tax_regime,
    simplesAssessment: file.tax_regime === 'simples' ? (file.simples_assessment ?? 'all') : 'none',
    specialRegime: file.special_regime,
    approximateTaxPercent: file.approximate_tax_percent,
    approximateTaxes: file.approximate_taxes?.map(({ service_code: serviceCode, ...row }) =>
      present({ ...row, serviceCode }),
    ),
    municipalRegistration: present({
      live: file.municipal_registration.live ?? undefined,
      test: file.municipal_registration.test ?? undefined,
    }),
    dps: {
      live: { series: live.series, nextNumber: live.next_number },
      test: { series: test.series, nextNumber: test.next_number },
    },
    municipalCodes:
      file.municipal_codes &&
      Object.entries(file.municipal_codes)
        .map(([serviceCode, municipalCode]) => ({ serviceCode, municipalCode }))
        .sort((one, other) => (one.serviceCode < other.serviceCode ? -1 : 1)),
    activities: file.activities.map(({ cnae, is_main: isMain }) => ({ cnae, isMain })),
    ibsCbs: ibsCbsOf(file.ibs_cbs),
    automaticIssuance: file.automatic_issuance,
    issuerConfigured: file.issuer_configured,
    issuerApproved: file.issuer_approved,
  });
};

/** A service code with its mask and the same one without it are one name. */
const twiceNamed = (json: unknown, read: Readonly<Record<string, string>> | undefined): readonly string[] => {
  const sent = (json as { municipal_codes?: object }).municipal_codes;
  const isTwice = read !== undefined && sent !== undefined && Object.keys(sent).length > Object.keys(read).length;
  return isTwice ? ['municipal_codes names a service code twice'] : [];
};

/** valibot stops at the first unknown key; the operator gets all of them. */
const unknownKeys = (json: unknown): string[] =>
  typeof json === 'object' && json !== null && !Array.isArray(json)
    ? Object.keys(json).filter((key) => !Object.hasOwn(companyFile.entries, key))
    : [];

const plain = ({ message, received }: { message: string; received: string }): string => {
  if (received === 'undefined') return 'is missing';
  return message.startsWith('Invalid')
    ? message.replace(/^Invalid (key|type|value|integer): /, 'is wrong: ').toLowerCase()
    : message;
};
