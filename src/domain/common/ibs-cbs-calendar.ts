import { DAY_MS, type FiscalDate } from './time.js';

/** `opSimpNac`: 2 MEI, 3 ME/EPP whatever its assessment, 1 outside the Simples. */
type Regime = 'mei' | 'simples' | 'normal';

/** A row of the table of duties (docs/national-system.md#ibs-and-cbs-by-date, with the sources and what they leave open). */
export type Duty = {
  regime: Regime;
  /** Of the national service codes that the row is about. A row without prefixes is about the others. */
  prefixes?: readonly string[];
  /** The first competence for which this service declares. E0850 allows a declaration before the duty begins. */
  declaredFrom: FiscalDate;
  owedFrom: FiscalDate;
  /** The last competence for which the authorizer is known to take a note without the group. The answer after that is open. */
  toleratedUntil: FiscalDate;
  source: string;
};

/** First competence for which the group may be declared (E0850). */
export const DECLARABLE_FROM: FiscalDate = '2026-01-01';

const TOLERATED_UNTIL: FiscalDate = '2026-12-31';

const schedule = 'Ato Conjunto RFB/CGIBS 4/2026, art. 1, III; SE/CGNFS-e of 2026-08-07';
const optantes = 'Ato Conjunto RFB/CGIBS 4/2026, art. 1, § 1; annex I, note on IBSCBS';

/** Who owes the group IBSCBS, and from which competence on. The first row that fits decides. */
export const DUTIES: readonly Duty[] = [
  {
    regime: 'normal',
    prefixes: ['0103', '0105', '0109', '1601', '99'],
    declaredFrom: DECLARABLE_FROM,
    owedFrom: '2026-12-01',
    toleratedUntil: TOLERATED_UNTIL,
    source: schedule,
  },
  {
    regime: 'normal',
    declaredFrom: DECLARABLE_FROM,
    owedFrom: '2026-10-01',
    toleratedUntil: TOLERATED_UNTIL,
    source: schedule,
  },
  {
    regime: 'simples',
    declaredFrom: '2027-01-01',
    owedFrom: '2027-01-01',
    toleratedUntil: TOLERATED_UNTIL,
    source: optantes,
  },
  {
    regime: 'mei',
    declaredFrom: '2027-01-01',
    owedFrom: '2027-01-01',
    toleratedUntil: TOLERATED_UNTIL,
    source: optantes,
  },
];

/** The duty of a company of this regime for a national service code of six digits. */
export const dutyOf = (regime: Regime, serviceCode: string): Duty => {
  const duty = DUTIES.find(
    ({ regime: of, prefixes }) => of === regime && (prefixes?.some((prefix) => serviceCode.startsWith(prefix)) ?? true),
  );
  if (duty === undefined) throw new Error(`no duty is on record for the regime ${regime}`);
  return duty;
};

/** Percent with two places; `open`: not published, with the percentage that the simulator computes with meanwhile. */
export type Rate = { percent: string } | { open: true; simulated: string };

/** Rates from a competence on, before the reductions of a classification. */
type Rates = { from: FiscalDate; ibsUf: Rate; ibsMun: Rate; cbs: Rate };

/**
 * Rates of IBS and CBS by year: LC 214/2025, art. 343 and 346 for 2026; art. 344 for the IBS of 2027 and 2028; art. 347 and 349 (reference rate of
 * the Senate less 0.1 points) for the CBS of those years; art. 349 for both from 2029 on.
 */
export const RATES: readonly [Rates, ...Rates[]] = [
  {
    from: DECLARABLE_FROM,
    ibsUf: { percent: '0.10' },
    ibsMun: { percent: '0.00' },
    cbs: { percent: '0.90' },
  },
  {
    from: '2027-01-01',
    ibsUf: { percent: '0.05' },
    ibsMun: { percent: '0.05' },
    cbs: { open: true, simulated: '0.90' },
  },
  {
    from: '2029-01-01',
    ibsUf: { open: true, simulated: '0.05' },
    ibsMun: { open: true, simulated: '0.05' },
    cbs: { open: true, simulated: '0.90' },
  },
];

/** The rates of a competence; those of the first year for an earlier one, which no document can declare. */
export const ratesOf = (competence: FiscalDate): Rates => RATES.findLast(({ from }) => from <= competence) ?? RATES[0];

/** From this competence on, IBS and CBS are added to the note's total, and PIS and COFINS stay in the base (annex I, `vBC`; E1555). */
export const ON_TOP_FROM: FiscalDate = '2027-01-01';

/** What is not published: from which competence on, for whom, what, and what this service does until it is. */
export type OpenPoint = { from: FiscalDate; regimes: readonly Regime[]; what: string; meanwhile: string };

const everybody: readonly Regime[] = ['mei', 'simples', 'normal'];

export const OPEN_POINTS: readonly OpenPoint[] = [
  {
    from: '2027-01-01',
    regimes: everybody,
    what: 'whether the authorizer refuses a note without the group',
    meanwhile: 'the group is sent wherever its data are settled',
  },
  {
    from: '2027-01-01',
    regimes: ['mei', 'simples'],
    what: 'how an optante declares taxes that it pays in the Simples: NT 009 has a field for it, layout 1.01 has none',
    meanwhile: 'the group is sent as layout 1.01 has it',
  },
  {
    from: '2027-01-01',
    regimes: everybody,
    what: 'the rate of the CBS',
    meanwhile:
      'no document waits, because none carries a rate; what the authorizer adds to a note that declares depends on the rate',
  },
  {
    from: '2029-01-01',
    regimes: everybody,
    what: 'the rates of IBS and CBS',
    meanwhile:
      'no document waits, because none carries a rate; what the authorizer adds to a note that declares depends on the rates',
  },
  {
    from: '2033-01-01',
    regimes: everybody,
    what: 'how a note says that the ISSQN has ended, and the base of IBS and CBS without it',
    meanwhile: 'notes declare the ISSQN as before',
  },
];

const WARNED_DAYS = 30;
/** The open points that concern one of the regimes and begin within 30 days of this date, or have begun. */
export const openPointsAt = (today: FiscalDate, regimes: ReadonlySet<Regime>): readonly OpenPoint[] =>
  OPEN_POINTS.filter(
    (point) =>
      Date.parse(point.from) - Date.parse(today) <= WARNED_DAYS * DAY_MS &&
      point.regimes.some((regime) => regimes.has(regime)),
  );
