import type { AccessKey, DpsId } from '../../../domain/common/access-key.js';
import type { StreamName } from '../../../domain/common/ids.js';
import { present } from '../../../domain/common/present.js';
import { addSeconds, type Instant, isBefore, laterOf } from '../../../domain/common/time.js';
import type { OtherSale, ReadInvoiceEvent } from '../../../domain/invoice/events.js';
import { absenceGapSeconds, type Limits } from '../../../domain/invoice/limits.js';
import { othersMet } from '../../../domain/invoice/note-met.js';
import type { LookupProgress } from '../../../domain/invoice/send-steps.js';
import { type ProvenAbsence, SAID_TO_EXIST } from '../../../domain/invoice/settle.js';
import type { Invoice } from '../../../domain/invoice/state.js';
import type { Authorizer } from '../../../ports/authorizer.js';
import type { Clock } from '../../../ports/clock.js';
import type { LookupProgressStore } from '../../../ports/work-progress.js';
import { compareNote, hasEqualContent, isOfAnotherSale } from '../../issuing/found-documents.js';

type ProofDeps = {
  authorizer: Pick<Authorizer, 'findByDps'>;
  lookups: LookupProgressStore;
  clock: Clock;
  limits: Limits;
};

/** `named`: access keys of notes that the operator has compared, and says to be of other sales. */
type Asked = {
  stream: StreamName;
  invoice: Invoice;
  events: readonly ReadInvoiceEvent[];
  named: readonly string[];
};

type Wanted = { dpsIds: readonly DpsId[]; saidToExist: readonly DpsId[] };

/** `secondFrom`: the instant of the second look-up. `toCompare`: the note is to be compared by the operator. */
type Finding =
  | { refused: string; toCompare?: AccessKey }
  | { absence: ProvenAbsence }
  | { otherSale: OtherSale }
  | { secondFrom: Instant };

type NoNote =
  | { refused: string }
  | { again: Instant }
  | { absences: readonly ProvenAbsence[]; otherSales: readonly OtherSale[] };

/**
 * Asks the authorizer under each DPS id of the invoice for the proof that it has no note there: two absent look-ups, or the note of another sale, because one
 * DPS id has one note. Losing a first absence costs time only. One refusal names every note that is left to compare.
 */
export const proveNoNote = async (asked: Asked, wanted: Wanted, deps: ProofDeps): Promise<NoNote> => {
  const met = othersMet(asked.events);
  const findings: Finding[] = [];
  for (const one of met) findings.push(await ofMetNote(one, asked, deps));
  for (const dpsId of wanted.dpsIds) {
    if (met.some((one) => one.dpsId === dpsId)) continue;
    const isSaidToExist = wanted.saidToExist.includes(dpsId);
    findings.push(await ofDpsId(dpsId, isSaidToExist, asked, deps));
  }
  const otherSales = findings.flatMap((one) => ('otherSale' in one ? [one.otherSale] : []));
  const refusals = findings.flatMap((one) => ('refused' in one ? [one] : []));
  if (refusals.length > 0) return { refused: refusalOf(refusals, otherSales) };
  const [first, ...others] = findings.flatMap((one) => ('secondFrom' in one ? [one.secondFrom] : []));
  if (first !== undefined) return { again: others.reduce(laterOf, first) };
  return { absences: findings.flatMap((one) => ('absence' in one ? [one.absence] : [])), otherSales };
};

const refusalOf = (
  refusals: readonly { refused: string; toCompare?: AccessKey }[],
  otherSales: readonly OtherSale[],
): string => {
  const reasons = [...new Set(refusals.map(({ refused }) => refused))];
  const keys = refusals.flatMap(({ toCompare }) => toCompare ?? []);
  const given = otherSales.flatMap(({ by, accessKey }) => (by === 'operator' ? [accessKey] : []));
  return [...reasons, ...(keys.length === 0 ? [] : [toCompareText(keys, given)])].join('. ');
};

const toCompareText = (keys: readonly AccessKey[], given: readonly AccessKey[]): string => {
  const flags = [...given, ...keys].map((key) => `--other-sale ${key}`).join(' ');
  const isOne = keys.length === 1;
  return `Compare ${isOne ? 'note' : 'the notes'} ${keys.join(' and ')} with the invoice at the national portal: where only a date in its text differs, ${isOne ? 'it' : 'a note'} may be of this sale, so leave the invoice indeterminate and tell the client not to request the sale again. Only where ${isOne ? 'it is of another sale' : 'all are of other sales'}: --as failed ${flags}`;
};

const MAY_BE_OWN = 'the note under its number may be of the same sale, on another day';

/** A note that the invoice met under its number with other content, before its time was over. */
const ofMetNote = async (
  { dpsId, accessKey }: { dpsId: DpsId; accessKey: AccessKey },
  { invoice, events, named }: Asked,
  { authorizer }: ProofDeps,
): Promise<Finding> => {
  const answer = await authorizer.findByDps(invoice.facts, dpsId);
  const found = answer.kind === 'found' ? answer.found : undefined;
  if (found !== undefined && compareNote(invoice, found) === 'ours')
    return { refused: `${underIt(dpsId)}: ${TRY_ISSUED}` };
  const seen = found?.accessKey === accessKey ? found : undefined;
  // The DPS id has another document now. That document may be the invoice's own note, also when the note that was met is of another sale.
  if (
    found !== undefined &&
    seen === undefined &&
    (compareNote(invoice, found) !== 'other' || hasEqualContent(found, events))
  )
    return { refused: `${underIt(dpsId)} ${MAY_BE_OWN_NOW}` };
  if (seen !== undefined && isOfAnotherSale(seen, events)) return { otherSale: { dpsId, accessKey, by: 'content' } };
  if (named.includes(accessKey))
    return {
      otherSale: present({ dpsId, accessKey, by: 'operator' as const, unseen: seen === undefined || undefined }),
    };
  return { refused: answer.kind === 'inconclusive' ? inconclusive(answer.reason) : MAY_BE_OWN, toCompare: accessKey };
};

/** Names the look-ups of support for a DPS id in the database. */
export const settleLookupKey = (dpsId: DpsId): string => `settle/${dpsId}`;

const ofDpsId = async (
  dpsId: DpsId,
  isSaidToExist: boolean,
  { stream, invoice, events, named }: Asked,
  deps: ProofDeps,
): Promise<Finding> => {
  const work = settleLookupKey(dpsId);
  const askedAt = deps.clock.now();
  const stored: LookupProgress = (await deps.lookups.get(stream, work)) ?? { asked: 0 };
  // Asked by a clock that was ahead: the pause of the proof begins again.
  const progress = isBefore(askedAt, stored.lastAskedAt ?? askedAt) ? { asked: 0 } : stored;
  const answer = await deps.authorizer.findByDps(invoice.facts, dpsId);
  const exists = answer.kind === 'found' || (answer.kind === 'inconclusive' && answer.exists === true);
  // An earlier absence is void, because a late commit has come.
  if (exists) await deps.lookups.put(stream, work, { asked: progress.asked + 1, lastAskedAt: askedAt });
  if (answer.kind === 'inconclusive') return { refused: inconclusive(answer.reason) };
  if (answer.kind === 'found') {
    const { found } = answer;
    const { accessKey } = found;
    // A document that may be the one that was sent is never called another sale's, whatever the operator says.
    if (compareNote(invoice, found) !== 'other') return { refused: `${underIt(dpsId)}: ${TRY_ISSUED}` };
    if (hasEqualContent(found, events)) return { refused: `${underIt(dpsId)} ${WITH_ITS_CONTENT}` };
    if (isOfAnotherSale(found, events)) return { otherSale: { dpsId, accessKey, by: 'content' } };
    if (named.includes(accessKey)) return { otherSale: { dpsId, accessKey, by: 'operator' } };
    return { refused: MAY_BE_OWN, toCompare: accessKey };
  }
  if (isSaidToExist) return { refused: SAID_TO_EXIST };
  const { firstAbsentAt: first = askedAt } = progress;
  const secondFrom = addSeconds(first, absenceGapSeconds(deps.limits));
  if (progress.firstAbsentAt !== undefined && !isBefore(askedAt, secondFrom))
    return { absence: { dpsId, firstAskedAt: first, secondAskedAt: askedAt } };
  await deps.lookups.put(stream, work, { asked: progress.asked + 1, lastAskedAt: askedAt, firstAbsentAt: first });
  return { secondFrom };
};

const underIt = (dpsId: DpsId): string => `the authorizer has a document under ${dpsId}`;

const TRY_ISSUED = 'try --as issued';

const MAY_BE_OWN_NOW =
  'now that may be the one of this invoice, and it is not the note that the invoice met: compare it at the national portal, and tell the client what counts. The invoice stays indeterminate';

const WITH_ITS_CONTENT =
  'with the content of this invoice: --as issued gives it to the invoice; where that is refused, the invoice stays indeterminate';

/** The reason of a refusal after an inconclusive answer. Without a usable certificate the authorizer was not asked. */
export const inconclusive = (reason: string): string =>
  CERTIFICATE_REASONS[reason] ??
  `the authorizer's answer proves nothing (${reason.replace(/^status_/, 'HTTP status ').replace(/^no_json_(\d+)$/, 'HTTP status $1 without JSON')}): try again later`;

const STORE_ANOTHER = 'the authorizer was not asked: store a valid one with nfse certificate put';

const CERTIFICATE_REASONS: Readonly<Record<string, string>> = {
  certificate_missing: `the company has no certificate that can be opened, and ${STORE_ANOTHER}`,
  certificate_unread:
    "the company's certificate could not be read, and the authorizer was not asked: try again, and look at nfse doctor if this stays",
  certificate_expired: `the company's certificate has expired, and ${STORE_ANOTHER}`,
  certificate_unusable: `the company's certificate cannot be used, and ${STORE_ANOTHER}`,
};
