import * as v from 'valibot';
import { present } from '../../../domain/common/present.js';
import type { Registration } from '../../../domain/company/events.js';
import { cnpj, fileText, shaped } from '../file-text.js';
import { type CompanyFileTables, ibsCbsOf, ibsCbsProblems, ibsCbsSection } from './ibs-cbs-section.js';

const name = fileText(300);

/** `1` to `49999`, the range for own software (docs/national-system.md#series-and-numbers). */
const series = v.pipe(
  shaped(/^[1-9]\d{0,4}$/, 'must be a number without leading zeros'),
  v.check((text) => Number(text) <= 49_999, 'must be from 1 to 49999'),
);

const dpsStart = v.strictObject({
  series,
  next_number: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(999_999_999_999_999)),
});

const registration = v.nullish(
  shaped(/^[0-9A-Za-z./-]{1,15}$/, 'must be 1 to 15 letters, digits, points, slashes or dashes'),
);

/** By national service code: `{ "010401": "003" }`. 000 would be refused (E0315). */
const municipalCodes = v.record(
  shaped(/^\d{6}$/, 'must be named by a service code of 6 digits'),
  shaped(/^(?!000)\d{3}$/, 'must be 3 digits other than 000'),
);

const companyFile = v.strictObject({
  cnpj,
  legal_name: name,
  city: name,
  state: shaped(/^[A-Z]{2}$/, 'must be a state in two capital letters'),
  tax_regime: v.picklist(['mei', 'simples', 'normal'], 'must be mei, simples or normal'),
  simples_assessment: v.optional(v.picklist(['all', 'federal_only', 'none'], 'must be all, federal_only or none')),
  special_regime: v.optional(v.picklist([0, 1, 2, 3, 4, 5, 6, 9], 'must be 0 to 6 or 9'), 0),
  approximate_tax_percent: v.optional(shaped(/^(0|[1-9]\d?)\.\d{2}$/, 'must be a percent such as 6.00')),
  municipal_registration: v.optional(v.strictObject({ live: registration, test: registration }), {}),
  dps: v.optional(v.strictObject({ live: v.optional(dpsStart), test: v.optional(dpsStart) }), {}),
  municipal_codes: v.optional(municipalCodes),
  activities: v.pipe(
    v.array(v.strictObject({ cnae: shaped(/^\d{7}$/, 'must be 7 digits'), is_main: v.boolean() })),
    v.minLength(1, 'must name at least one activity'),
    v.check((all) => all.filter((one) => one.is_main).length === 1, 'must have exactly one main activity'),
    v.check((all) => new Set(all.map((one) => one.cnae)).size === all.length, 'must not name a CNAE twice'),
  ),
  ibs_cbs: v.optional(ibsCbsSection),
  automatic_issuance: v.boolean(),
  issuer_configured: v.boolean(),
  issuer_approved: v.boolean(),
});

/** Reads a company file; unknown fields and bad values are refused, each by its name. */
export const parseCompanyFile = (
  json: unknown,
  tables: CompanyFileTables,
): { registration: Registration } | { problems: readonly string[] } => {
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
  const problems = ibsCbsProblems(file.ibs_cbs, tables);
  if (problems.length > 0) return { problems };
  const start = { series: '1', next_number: 1 };
  const { live = start, test = start } = file.dps;
  return {
    registration: present({
      cnpj: file.cnpj,
      legalName: file.legal_name,
      city: file.city,
      state: file.state,
      taxRegime: file.tax_regime,
      simplesAssessment: file.tax_regime === 'simples' ? (file.simples_assessment ?? 'all') : 'none',
      specialRegime: file.special_regime,
      approximateTaxPercent: file.approximate_tax_percent,
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
    }),
  };
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
