import { cancelingEvents, isAccessKey } from '../../domain/common/access-key.js';
import { DAY_MS, epochMs } from '../../domain/common/time.js';
import { isBlocked } from '../event/kinds.js';
import type { Note } from '../state/ledger.js';
import { isOutsideSimples } from './facts.js';
import type { RuleContext, Rules } from './rule.js';

/** The note to be substituted (annex I, group subst; docs/national-system.md#substitution). */
export const substRules: Rules = {
  E0042: (context) => context.dps.has('subst') && !isOwnKey(context),
  E0044: (context) =>
    context.dps.has('subst') && oldNote(context) === undefined && !context.notes.isElsewhere(oldKey(context)),
  E0046: (context) => hasEvent(context, cancelingEvents),
  E0050: (context) => {
    const { substitutionDays } = context.municipality;
    const note = oldNote(context);
    if (substitutionDays === undefined || note === undefined || isAboutSimples(context)) return false;
    return epochMs(context.now) > epochMs(note.authorizedAt) + substitutionDays * DAY_MS;
  },
  E0056: (context) =>
    context.municipality.substitutionNeedsCustomer === true &&
    ofOldNote(context, (note) => note.customer === undefined),
  E0058: (context) =>
    context.municipality.substitutionKeepsCustomer === true &&
    ofOldNote(context, (note) => note.customer !== context.dps.customer),
  E0060: (context) => isOutsideSimples(context) && ofOldNote(context, (note) => hasOtherService(context, note)),
  E0061: (context) =>
    !isOutsideSimples(context) && ofOldNote(context, (note) => hasOtherCustomerOrAmount(context, note)),
  E0065: (context) => context.dps.has('subst') && context.notes.isElsewhere(oldKey(context)),
  // Annex I has no code for a refused analysis, which bars a substitution as a pending one does (docs/national-system.md#matrix).
  E0068: (context) =>
    hasEvent(context, ['105105']) || (hasEvent(context, ['101103']) && !hasEvent(context, ['105104'])),
  E0070: (context) => hasEvent(context, ['202201', '203202', '204203']),
  E0072: (context) => hasEvent(context, ['205204']),
  E0076: (context) => isBlocked(context.notes.events(oldKey(context)), '105102'),
  E0078: ({ dps }) => dps.text('subst/cMotivo') === '99' && !dps.has('subst/xMotivo'),
};

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
