import { setMunicipality } from '../../app/operator/reference-data/commands.js';
import type { Mode } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import { unreachable } from '../../domain/common/unreachable.js';
import { demandsNow } from '../../domain/municipality/demands.js';
import type { MunicipalityDemands } from '../../domain/municipality/events.js';
import { ageSeconds, type KnownParameters, USED_SECONDS } from '../../domain/municipality/parameters.js';
import { knownIn, type ParametersEntry } from '../../ports/municipal-parameters.js';
import { municipalityByCode } from '../../tables/municipalities.js';
import { badUsage, type Command, done, type Flags, refused, textFlag } from '../command.js';
import { codeFinding } from '../company-warnings.js';
import { tellRowsBehind } from '../rows-behind.js';
import { jsonText } from '../terminal.js';

const set: Command = {
  name: 'municipality set',
  positionals: ['IBGE'],
  summary: 'record what a municipality demands of an invoice; what is not named stays as it is',
  options: {
    'requires-customer': { value: 'on|off', help: 'on or off: 422 nfse.customer_required' },
    'requires-registration': {
      value: 'on|off',
      help: 'on or off: 422 nfse.municipal_registration_missing in test mode only; in live mode the authorizer refuses (E0116, E0120)',
    },
  },
  changes: true,
  run: async ({ positionals: [ibge = ''], flags, actor, session }) => {
    const change = demandsIn(flags);
    if (change === undefined) return badUsage('name --requires-customer or --requires-registration, each on or off');
    const found = municipalityByCode(ibge);
    if (found === undefined) return refused(`no municipality has the IBGE code ${ibge}`);
    await setMunicipality(ibge, change, (await session()).companyDeps(actor));
    return done(`${found.name}/${found.uf} recorded`, { ibge });
  },
};

const show: Command = {
  name: 'municipality show',
  positionals: ['IBGE'],
  summary: 'what a municipality demands of an invoice, and what the national system answered, with its age',
  changes: false,
  run: async ({ positionals: [ibge = ''], session, terminal }) => {
    const found = municipalityByCode(ibge);
    if (found === undefined) return refused(`no municipality has the IBGE code ${ibge}`);
    const opened = await session();
    await tellRowsBehind(opened, terminal, ['municipalities']);
    const { readModel, parameters, clock } = opened;
    const [demands, entries] = await Promise.all([readModel.municipalityDemands(ibge), parameters.entriesOf(ibge)]);
    const now = clock.now();
    // Only test mode refuses invoices for a missing registration, so only its answers are shown as in force.
    const inForce = demandsNow(demands, knownIn(entries.filter(({ mode }) => mode === 'test')), 'normal', now);
    const shown = {
      ibge,
      name: found.name,
      state: found.uf,
      requires_customer: inForce.requiresCustomer,
      requires_registration: inForce.requiresRegistration,
      set_by_operator: setByOperator(demands),
      municipal_codes: { test: codeTexts(entries, 'test', now), live: codeTexts(entries, 'live', now) },
      parameters: shownParameters(entries, now),
    };
    return done(jsonText(shown, 2), shown);
  },
};

export const municipalityCommands: readonly Command[] = [set, show];

/** Undefined when neither flag is given, or a value is neither on nor off. */
const demandsIn = (flags: Flags): MunicipalityDemands | undefined => {
  const customer = textFlag(flags, 'requires-customer');
  const registration = textFlag(flags, 'requires-registration');
  const given = [customer, registration].filter((value) => value !== undefined);
  if (given.length === 0 || !given.every((value) => value === 'on' || value === 'off')) return undefined;
  return {
    ...(customer === undefined ? {} : { requiresCustomer: customer === 'on' }),
    ...(registration === undefined ? {} : { requiresRegistration: registration === 'on' }),
  };
};

const setByOperator = (demands: MunicipalityDemands | undefined): readonly string[] => [
  ...(demands?.requiresCustomer === undefined ? [] : ['requires_customer']),
  ...(demands?.requiresRegistration === undefined ? [] : ['requires_registration']),
];

/** What the answers say about the municipal codes of each service, for a company that chose none. */
const codeTexts = (entries: readonly ParametersEntry[], mode: Mode, now: Instant): readonly string[] => {
  const rates = knownIn(entries.filter((entry) => entry.mode === mode)).filter(
    ({ known }) => known.kind === 'aliquota',
  );
  const serviceCodes = new Set(rates.map(({ questionKey }) => serviceCodeIn(questionKey)));
  return [...serviceCodes].sort().flatMap((serviceCode) => {
    const ofService = rates.filter(({ questionKey }) => serviceCodeIn(questionKey) === serviceCode);
    return codeFinding(serviceCode, undefined, ofService, now)?.text ?? [];
  });
};

/** `010701` of `aliquota/01.07.01.000`. */
const serviceCodeIn = (questionKey: string): string => questionKey.replaceAll(/\D/g, '').slice(0, 6);

/** The stored answers of the parameters API for `municipality show`: the last answer to each question and its age, per mode. */
const shownParameters = (entries: readonly ParametersEntry[], now: Instant) => ({
  test: entries.filter(({ mode }) => mode === 'test').map((entry) => entryShown(entry, now)),
  live: entries.filter(({ mode }) => mode === 'live').map((entry) => entryShown(entry, now)),
});

const entryShown = ({ questionKey, known, knownAt, askedAt, failures, reason }: ParametersEntry, now: Instant) => ({
  question: questionKey,
  ...(known === undefined || knownAt === undefined
    ? { told: null }
    : {
        told: factsOf(known),
        told_at: knownAt,
        age_s: ageSeconds(knownAt, now),
        in_use: ageSeconds(knownAt, now) <= USED_SECONDS,
      }),
  // Without a failure `askedAt` may be when an answer was needed, and not when it was asked for.
  asked_at: failures === 0 ? (knownAt ?? null) : askedAt,
  ...(failures === 0 ? {} : { unanswered: failures, reason }),
});

/** What `told` of each answer means, for the reference of the files; a test compares it with what is shown. */
export const parameterFields: Readonly<Record<KnownParameters['kind'], Readonly<Record<string, string>>>> = {
  convenio: {
    active: 'whether the municipality has an active convênio',
    shares_documents: 'whether it shares documents with the national system; null: not told',
    national_emitter: 'whether its companies issue through Sefin Nacional; false: their notes are refused (E0039)',
    rfb_contributors_may_issue:
      'whether companies known by their CNPJ alone may issue, without an entry in the CNC (E0084)',
  },
  aliquota: {
    rates:
      'rates of a service, each with its days, and in percent with two decimals where that is told; none: the service is not administered with this municipal code, but perhaps with another (E0312)',
  },
  regimes_especiais: { regimes: 'special regimes of a service and their situation, each with its days' },
  retencoes: {
    article_6: 'whether those whom article 6 of LC 116 names withhold the tax',
    municipal_rules: 'number of further rules by municipal law',
  },
};

/** An answer of the parameters API as it is shown. */
export const factsOf = (known: KnownParameters) => {
  switch (known.kind) {
    case 'convenio':
      return known.isActive
        ? {
            active: true,
            shares_documents: known.sharesDocuments ?? null,
            national_emitter: known.nationalEmitter ?? null,
            rfb_contributors_may_issue: known.rfbContributors ?? null,
          }
        : { active: false };
    case 'aliquota':
      return { rates: known.rates };
    case 'regimes_especiais':
      return { regimes: known.regimes };
    case 'retencoes':
      return { article_6: known.article6, municipal_rules: known.municipal };
    default:
      return unreachable(known);
  }
};
