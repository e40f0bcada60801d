import { type CompanyId, invoicePrefix, type Mode, modes } from '../../domain/common/ids.js';
import { type Instant, laterOf } from '../../domain/common/time.js';
import type { Company } from '../../domain/company/company.js';
import type { HeldNumbers } from '../../ports/held-numbers.js';
import { loadCompany } from '../operator/company/company-commands.js';
import { loadSealedInvoice } from '../read/read-invoice.js';
import type { RecoveryDeps, SeriesToCompare, StartingPoint } from './ask-series.js';
import { sendableUntil, slowerNow } from './end-of-sends.js';
import type { KnownRegistration, KnownSeries, KnownWork } from './known-work.js';

/**
 * A company or mode that is not compared, and why that is safe. `isHeld`: the company may have notes that the log has lost, so it stays disabled until
 * a later comparison.
 */
export type Skipped = { companyId: CompanyId; mode?: Mode; why: string; isHeld?: true };

/** A company for which nothing can be asked, because it has no certificate or its city is in no table. */
export type Unaskable = { companyId: CompanyId; lacks: 'certificate' | 'city' };

type Planned =
  | { all: readonly SeriesToCompare[]; skipped: readonly Skipped[]; unaskable: readonly Unaskable[] }
  | { refused: string };

type CompanyToCompare = {
  companyId: CompanyId;
  state: Company;
  /** What its company files have said, the present one included. */
  registrations: readonly KnownRegistration[];
  /** Those that an operator named. */
  named: readonly StartingPoint[];
  /** Those that the database holds. */
  held: readonly StartingPoint[];
};

/**
 * What is to be asked: for each series and city that a company has or had according to the log, the numbers after its end, and the numbers from each
 * starting point on. The database may belong to another end of the log, so it adds starting points and takes none away. Refuses a starting point at
 * which nothing can be asked, because an operator counts on it. Refuses a mode that cannot be asked, unless the operator leaves the mode out or the
 * certificate is for a simulator. Refuses to leave out a company that may still get a note.
 */
export const planComparison = async (known: KnownWork, deps: RecoveryDeps): Promise<Planned> => {
  const { named } = deps;
  const refused = refusalOf(known, deps) ?? (await refusalOfLeftOut(known, deps));
  if (refused !== undefined) return { refused };
  const held = await pointsOfDatabase(known, deps);
  const all: SeriesToCompare[] = [];
  const skipped: Skipped[] = held.flatMap((one) => unknownCompany(one, known));
  const unaskable: Unaskable[] = [];
  for (const [companyId, registrations] of known.companies) {
    const { state } = await loadCompany(companyId, deps.store);
    if (state.kind !== 'company') continue;
    if (deps.withoutCompanies.includes(companyId)) {
      skipped.push({ companyId, why: 'it is left out: it cannot be enabled before a later comparison', isHeld: true });
      continue;
    }
    const own = (one: StartingPoint): boolean => one.companyId === companyId;
    const company = { companyId, state, registrations, named: named.filter(own), held: held.filter(own) };
    const lacks = lackOf(company, deps);
    if (lacks !== undefined) {
      const mayGetNote = state.enabled || (await companySendableUntil(companyId, known, deps)) !== undefined;
      if (mayGetNote) unaskable.push({ companyId, lacks });
      else skipped.push({ companyId, why: HELD[lacks], isHeld: true });
      continue;
    }
    const planned = planCompany(company, known, deps, await unaskedModes(companyId, deps));
    if ('refused' in planned) return planned;
    all.push(...planned.all);
    skipped.push(...planned.skipped);
  }
  return { all, skipped, unaskable };
};

const HELD: Readonly<Record<Unaskable['lacks'], string>> = {
  certificate: 'it has no certificate: it is disabled, and cannot be enabled before a later comparison',
  city: 'its city is in no table: it is disabled, and cannot be enabled before a later comparison',
};

/**
 * What a company lacks to be asked for. The backup may be older than its certificate or its city, and then the company has issued with them. A company
 * with starting points is asked for anyway: the look-ups say what is missing.
 */
const lackOf = (
  { state, named, held }: CompanyToCompare,
  { municipalityOf, withoutAuthorizer }: RecoveryDeps,
): Unaskable['lacks'] | undefined => {
  if (named.length + held.length > 0 || modes.every((mode) => withoutAuthorizer.includes(mode))) return undefined;
  if (state.certificate === undefined) return 'certificate';
  return municipalityOf(state.registration) === undefined ? 'city' : undefined;
};

/**
 * Why a company may not be left out, if it may not. A left-out company accepts nothing and sends nothing until a later comparison, so none of its
 * forgotten notes can be made a second time.
 */
export const refusalOfLeftOut = async (known: KnownWork, deps: RecoveryDeps): Promise<string | undefined> => {
  for (const companyId of deps.withoutCompanies) {
    const { state } = await loadCompany(companyId, deps.store);
    if (state.kind === 'none') return `the log knows no company ${companyId}: leave out --without-company ${companyId}`;
    if (state.enabled)
      return `company ${companyId} is enabled and may issue a note a second time: nfse company disable ${companyId} first`;
    const until = await companySendableUntil(companyId, known, deps);
    if (until !== undefined)
      return `an open invoice of ${companyId} may be sent until ${until}: try --without-company ${companyId} again after that`;
  }
  return undefined;
};

/** Until when an open live invoice of the company may be sent once issuing resumes; undefined when none may. */
const companySendableUntil = async (
  companyId: CompanyId,
  { open }: KnownWork,
  deps: RecoveryDeps,
): Promise<Instant | undefined> => {
  let until: Instant | undefined;
  const now = await slowerNow(deps);
  for (const stream of open.filter((one) => one.startsWith(`${invoicePrefix.live}${companyId}_`))) {
    const { state } = await loadSealedInvoice(stream, deps.store);
    const end = sendableUntil(state, deps.limits, now);
    if (end !== undefined) until = until === undefined ? end : laterOf(until, end);
  }
  return until;
};

const NO_LEDGER = "the simulator's ledger is not here; its notes are no fiscal documents";

const refusalOf = (
  { companies }: KnownWork,
  { named, modesWithoutLedger, withoutAuthorizer, withoutCompanies }: RecoveryDeps,
): string | undefined => {
  const asked = withoutAuthorizer.find((mode) => !modesWithoutLedger.includes(mode));
  if (asked !== undefined)
    return `${asked} mode has an authorizer here, which would be asked: leave out --without-authorizer ${asked}, or ${addressOf(asked)}`;
  const stranger = named.find(({ companyId }) => !companies.has(companyId));
  if (stranger !== undefined)
    return `the log knows no company ${stranger.companyId}: register it with a next number that is greater than the number of its last note`;
  const leftOut = named.find(({ companyId }) => withoutCompanies.includes(companyId))?.companyId;
  if (leftOut !== undefined) return `--from names company ${leftOut}, which --without-company ${leftOut} leaves out`;
  const unasked = named.find(({ mode }) => modesWithoutLedger.includes(mode));
  return unasked === undefined ? undefined : `${unasked.mode} mode cannot be compared: ${NO_LEDGER}`;
};

const addressOf = (mode: Mode): string => `AUTHORIZER_${mode.toUpperCase()}_URL`;

/** A command that lacks the variables of the service would ask no authorizer, and issuing would resume over forgotten notes. */
const withoutAddresses = (missing: readonly Mode[]): string => {
  const flags = missing.map((mode) => `--without-authorizer ${mode}`).join(' ');
  return `nothing was compared in ${missing.join(' and ')} mode: no ${missing.map(addressOf).join(', no ')} here, and no ledger of a simulator. Run it with the variables of the service. Only where no note may be asked for, as in a rehearsal: ${flags}`;
};

/** The modes in which the authorizer has to be asked, and cannot be asked from here. */
const unaskedModes = async (companyId: CompanyId, deps: RecoveryDeps): Promise<readonly Mode[]> => {
  const unasked = deps.modesWithoutLedger.filter((mode) => !deps.withoutAuthorizer.includes(mode));
  return unasked.length > 0 && (await deps.isForSimulator(companyId)) ? [] : unasked;
};

/** Company files and attempts that the database has. Without a certificate a company never sent anything. */
const pointsOfDatabase = async (
  { series }: KnownWork,
  { companyRows, municipalityOf, heldNumbers, span }: RecoveryDeps,
): Promise<readonly (HeldNumbers | StartingPoint)[]> => {
  const files = (await companyRows()).flatMap(({ certificate, registration }): readonly StartingPoint[] => {
    const municipality = municipalityOf(registration);
    if (certificate === undefined || municipality === undefined) return [];
    return modes.map((mode) => startOf(registration.cnpj, mode, registration, municipality));
  });
  const ends = series.filter(({ isBegun }) => isBegun);
  return [...files, ...(await heldNumbers(ends, span))];
};

const startOf = (
  companyId: CompanyId,
  mode: Mode,
  { dps }: KnownRegistration,
  municipality: string,
): StartingPoint => ({ companyId, mode, series: dps[mode].series, number: dps[mode].nextNumber, municipality });

/** Safe, because a company that the log does not know cannot issue until an operator registers it again. */
const unknownCompany = (point: HeldNumbers | StartingPoint, { companies }: KnownWork): readonly Skipped[] => {
  const { companyId, mode, series } = point;
  if (companies.has(companyId) || !('last' in point)) return [];
  const why = `the log does not know it; the database has number ${point.last} of series ${series}: register it with a later next number`;
  return [{ companyId, mode, why }];
};

const planCompany = (
  company: CompanyToCompare,
  known: KnownWork,
  deps: RecoveryDeps,
  unasked: readonly Mode[],
): { all: readonly SeriesToCompare[]; skipped: readonly Skipped[] } | { refused: string } => {
  const { companyId, named, registrations } = company;
  const cities = new Set(registrations.flatMap((one) => deps.municipalityOf(one) ?? []));
  if (cities.size === 0 && named.some(({ municipality }) => municipality === undefined))
    return { refused: `the city of ${companyId} is in no table: name its IBGE code after the number` };
  if (unasked.length > 0) return { refused: withoutAddresses(unasked) };
  const all: SeriesToCompare[] = [];
  const skipped: Skipped[] = [];
  for (const mode of modes) {
    if (deps.modesWithoutLedger.includes(mode)) {
      skipped.push({ companyId, mode, why: NO_LEDGER });
      continue;
    }
    all.push(...planMode(mode, company, [...cities], known.series));
  }
  return { all, skipped };
};

type Start = Pick<StartingPoint, 'series' | 'number' | 'municipality'> & { isNamed?: boolean };

/** One entry for each series and city, with all numbers that a walk begins at. */
const planMode = (
  mode: Mode,
  { companyId, state, registrations, named, held }: CompanyToCompare,
  cities: readonly string[],
  series: readonly KnownSeries[],
): readonly SeriesToCompare[] => {
  const begun = series.filter((one) => one.companyId === companyId && one.mode === mode);
  const registered = state.registration.dps[mode];
  const ends = begun.flatMap(({ series: name, nextNumber, movedPast }) =>
    [...movedPast, nextNumber].map((number) => ({ series: name, number })),
  );
  const files = registrations.map(({ dps }) => ({ series: dps[mode].series, number: dps[mode].nextNumber }));
  const ofMode = (one: StartingPoint): boolean => one.mode === mode;
  const byOperator = named.filter(ofMode).map((one) => ({ ...one, isNamed: true }));
  const all: readonly Start[] = [...ends, ...files, ...byOperator, ...held.filter(ofMode)];
  return [...new Set(all.map((one) => one.series))].flatMap((name) => {
    const own = all.filter((one) => one.series === name);
    const known = begun.find((one) => one.series === name);
    // The log has allocated every number before this one. Those that became no note in the log are among the taken ones.
    const first = known?.isBegun === true ? Math.min(...known.movedPast, known.nextNumber) : 1;
    const registeredNumber =
      registered.series === name ? registered.nextNumber : Math.min(...own.map(({ number }) => number));
    const nextNumber = known?.nextNumber ?? registeredNumber;
    const startsIn = (city: string): readonly number[] => {
      const here = own.filter(({ municipality }) => municipality === undefined || municipality === city);
      const begin = here.flatMap(({ number, isNamed }) => [
        // Only an operator knows of a loss that is older than the taken numbers.
        ...(isNamed === true ? [number] : []),
        Math.max(number, first),
      ]);
      return [...new Set(begin)].sort((one, other) => one - other);
    };
    const attempted = new Set(known?.attempted);
    const places = new Set([...cities, ...own.flatMap(({ municipality }) => municipality ?? [])]);
    return [...places]
      .map((city) => ({ municipality: city, starts: startsIn(city) }))
      .filter(({ starts }) => starts.length > 0)
      .map((one) => ({ mode, companyId, series: name, nextNumber, taken: known?.taken ?? [], attempted, ...one }));
  });
};
