import { isAccessKey } from '../../domain/shared/access-key.js';
import { epochMs } from '../../domain/shared/time.js';
import type { Note } from '../state/ledger.js';
import { isOutsideSimples } from './facts.js';
import type { Rule, RuleContext } from './rule.js';

/** The note to be substituted (annex I, group subst; docs/national-system.md#substitution). */
export const substRules: readonly Rule[] = [
  { code: 'E0042', broken: (context) => context.dps.has('subst') && !isOwnKey(context) },
  {
    code: 'E0044',
    broken: (context) =>
      context.dps.has('subst') && oldNote(context) === undefined && !context.notes.isElsewhere(oldKey(context)),
  },
  { code: 'E0046', broken: (context) => hasEvent(context, ['101101', '105102', '105104', '305101']) },
  {
    code: 'E0050',
    broken: (context) => {
      const { substitutionDays } = context.municipality;
      const note = oldNote(context);
      if (substitutionDays === undefined || note === undefined || isAboutSimples(context)) return false;
      return epochMs(context.now) > epochMs(note.authorizedAt) + substitutionDays * 86_400_000;
    },
  },
  {
    code: 'E0056',
    broken: (context) =>
      context.municipality.substitutionNeedsCustomer === true &&
      ofOldNote(context, (note) => note.customer === undefined),
  },
  {
    code: 'E0058',
    broken: (context) =>
      context.municipality.substitutionKeepsCustomer === true &&
      ofOldNote(context, (note) => note.customer !== context.dps.customer),
  },
  {
    code: 'E0060',
    broken: (context) => isOutsideSimples(context) && ofOldNote(context, (note) => hasOtherService(context, note)),
  },
  {
    code: 'E0061',
    broken: (context) =>
      !isOutsideSimples(context) && ofOldNote(context, (note) => hasOtherCustomerOrAmount(context, note)),
  },
  {
    code: 'E0065',
    broken: (context) => context.dps.has('subst') && context.notes.isElsewhere(oldKey(context)),
  },
  {
    code: 'E0068',
    broken: (context) => hasEvent(context, ['101103']) && !hasEvent(context, ['105104', '105105']),
  },
  { code: 'E0070', broken: (context) => hasEvent(context, ['202201', '203202', '204203']) },
  { code: 'E0072', broken: (context) => hasEvent(context, ['205204']) },
  {
    code: 'E0076',
    broken: (context) => hasEvent(context, ['305102:105102']) && !hasEvent(context, ['305103:105102']),
  },
  { code: 'E0078', broken: ({ dps }) => dps.text('subst/cMotivo') === '99' && !dps.has('subst/xMotivo') },
];

const oldKey = ({ dps }: RuleContext): string => dps.text('subst/chSubstda') ?? '';

const oldNote = (context: RuleContext): Note | undefined => context.notes.note(oldKey(context));

const ofOldNote = (context: RuleContext, test: (note: Note) => boolean): boolean => {
  const note = oldNote(context);
  return note !== undefined && test(note);
};

const hasEvent = (context: RuleContext, types: readonly string[]): boolean =>
  context.notes.events(oldKey(context)).some((type) => types.includes(type));

/** True for a key with the municipality and inscription of the DPS; access key and DPS id write both in the same form. */
const isOwnKey = (context: RuleContext): boolean => {
  const key = oldKey(context);
  return isAccessKey(key) && `${key.slice(0, 7)}${key.slice(8, 23)}` === context.dps.derivedId.slice(3, 25);
};

/** A substitution because the company entered or left the Simples has no time limit. */
const isAboutSimples = ({ dps }: RuleContext): boolean => ['01', '02'].includes(dps.text('subst/cMotivo') ?? '');

const hasOtherService = ({ dps }: RuleContext, { subject }: Note): boolean =>
  subject !== undefined &&
  (subject.competence !== dps.competence ||
    subject.serviceCode !== dps.serviceCode ||
    subject.municipalCode !== dps.text('serv/cServ/cTribMun') ||
    subject.place !== placeOf(dps));

const hasOtherCustomerOrAmount = ({ dps }: RuleContext, note: Note): boolean =>
  (note.customer !== undefined && note.customer !== dps.customer) ||
  note.amountInCents !== dps.amountInCents ||
  (note.subject !== undefined && note.subject.competence !== dps.competence);

/** Municipality, or country, where the service was performed. */
export const placeOf = (dps: RuleContext['dps']): string | undefined =>
  dps.text('serv/locPrest/cLocPrestacao') ?? dps.text('serv/locPrest/cPaisPrestacao');
