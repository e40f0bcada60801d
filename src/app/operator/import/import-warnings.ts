import { accessKeyCheckDigit, isAccessKey, providerOfKey } from '../../../domain/common/access-key.js';
import { DAY_SECONDS, type Instant } from '../../../domain/common/time.js';
import { counted } from '../../../lib/counted.js';
import type { PlannedImport } from './import-line.js';
import { type LineProblem, type Numbered, type Told, together, toldOfKinds, toldOfLines } from './import-problems.js';
import type { MetLine } from './notes-met.js';
import { isLifeOver } from './on-record.js';

/** What an operator should know of lines that are taken. What concerns one note has a text for each line, all else one text for each kind. */
export const importWarnings = (
  lines: readonly Numbered[],
  met: readonly MetLine[],
  deps: { now: Instant; testRetentionSeconds: number; isOnRecord: (plan: PlannedImport) => boolean },
): Told =>
  together([
    toldOfKinds(lines.flatMap(signatureWarning)),
    toldOfKinds(met.map(({ number, warning: text }) => ({ number, text }))),
    ...KEY_FAULTS.flatMap(({ isOf, text }) => [
      ofKind(lines, (plan) => isOf(plan) && !deps.isOnRecord(plan), `${text}. ${CORRECT}`),
      ofKind(lines, (plan) => isOf(plan) && deps.isOnRecord(plan), `${text}. ${NOT_CORRECTED}`),
    ]),
    ofKind(lines, isNameless, NAMELESS),
    ofKind(lines, (plan) => isOver(plan, deps), overText(deps.testRetentionSeconds)),
  ]);

/**
 * Files of earlier systems may be older than the signatures of notes, or spoilt by a reformatting, so such a file is taken. Its embedded DPS is not
 * judged: a DPS of another system may have no signature, or one by an algorithm that is not compared.
 */
const signatureWarning = ({ number, plan: { dps } }: Numbered): readonly LineProblem[] => {
  const fault = dps?.signatureFault;
  if (fault === undefined) return [];
  return [{ number, text: fault === 'missing' ? UNSIGNED : ALTERED }];
};

const UNSIGNED = 'xml_file has no signature, so nothing shows that it is what the authorizer made';

const ALTERED =
  'the signature of xml_file does not hold, so the file may not be what the authorizer made: compare it with the note at the national portal';

const ofKind = (lines: readonly Numbered[], isOfKind: (plan: PlannedImport) => boolean, text: string): Told =>
  toldOfLines(
    lines.filter(({ plan }) => isOfKind(plan)).map(({ number }) => number),
    text,
  );

const CORRECT =
  'The API cancels no such note, and no command corrects the key afterwards. Correct access_key, or leave it out where the right key is not known';

/** A line with another key than the record would be refused, and a nameless one would be a second invoice of the sale. */
const NOT_CORRECTED =
  'The API cancels no such note. The line is on record, and no command corrects the key: change nothing in the line';

const KEY_FAULTS: readonly { isOf: (plan: PlannedImport) => boolean; text: string }[] = [
  {
    isOf: ({ liveKey, data }) => liveKey !== undefined && providerOfKey(liveKey) !== data.companyId,
    text: 'access_key is of another company: characters 10 to 23 are not the cnpj of the line',
  },
  {
    isOf: ({ liveKey }) => liveKey !== undefined && hasWrongDigit(liveKey),
    text: 'access_key has a wrong check digit, so Sefin has no note under it',
  },
  {
    isOf: ({ liveKey }) => liveKey !== undefined && !hasWrongDigit(liveKey) && !isAccessKey(liveKey),
    text: 'access_key is no national key: its eighth and ninth character are 1 or 2 in such a key',
  },
];

const hasWrongDigit = (key: string): boolean => accessKeyCheckDigit(key.slice(0, -1)) !== key.slice(-1);

/** A sale whose note is canceled may get another one. */
const isNameless = ({ data: { mode, state, reference, keyHash }, namesId }: PlannedImport): boolean =>
  mode === 'live' && state !== 'canceled' && reference === undefined && keyHash === undefined && namesId !== true;

const NAMELESS =
  'no reference, id or idempotency_key, so a request for the same sale makes a second note. Add the reference of the sale, unless an invoice here has that reference. Where the line is on record, give it once more with reference, and without access_key and xml_file';

const isOver = (
  { data: { mode, createdAt } }: PlannedImport,
  deps: { now: Instant; testRetentionSeconds: number },
): boolean => mode === 'test' && createdAt !== undefined && isLifeOver(createdAt, deps);

const overText = (testRetentionSeconds: number): string =>
  `a test invoice is deleted ${counted(testRetentionSeconds / DAY_SECONDS, 'day')} after its created_at, so nobody can read the invoice. Real notes have the mode live`;
