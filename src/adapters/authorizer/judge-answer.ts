import { type CancelingEvent, cancelingEvents } from '../../domain/common/access-key.js';
import { EVENT_EXISTS, existsCodes } from '../../domain/common/authorizer-code.js';
import { present } from '../../domain/common/present.js';
import type { LookupResult, SendResult } from '../../ports/authorizer.js';
import {
  type Asked,
  answerTable,
  areAllOf,
  type CallEvidence,
  contradicts,
  hasOneOf,
  holdsErrorOfAuthorizer,
  mayBeNoActor,
  namesOther,
  outageCodes,
  refusesCertificate,
  type Subject,
  transientCodes,
  unansweredCodes,
  whatCallShows,
} from './answer-table.js';
import { type Exchange, localReasons } from './exchange.js';
import type { AuthorizerError, JsonBody } from './responses.js';

/** What a 2xx body holds: the document that embeds what was sent, or the reason why the result of the send is unknown. */
export type SuccessRead<Success> = { result: Success } | { reason: string; signatureFault?: string };

/** Judges one send of the document `sentId`; `readSuccess` reads the document from a 2xx body. */
export const judgeSend = <Success>(
  subject: Subject,
  sentId: string,
  exchange: Exchange,
  readSuccess: (body: JsonBody) => SuccessRead<Success>,
): SendResult<Success> => {
  const seen: CallEvidence = { ...whatCallShows(exchange), sentId };
  const row = answerTable.find(({ when }) => when(seen, subject));
  const reason = exchange.kind === 'answered' ? (row?.name ?? 'unclassified') : exchange.reason;
  const answer = answerOf(seen);
  const unknown = (why: string) => ({
    kind: 'unknown' as const,
    reason: why,
    ...answer,
    ...named(subject, seen),
    ...outage(seen),
    ...certificate(seen),
  });
  switch (row?.is) {
    case 'success': {
      const read: SuccessRead<Success> = seen.body === undefined ? SUCCESS_NOT_OURS : readSuccess(seen.body);
      if ('result' in read) return { kind: 'done', result: read.result };
      const { reason: why, ...doubt } = read;
      return { ...unknown(why), ...doubt };
    }
    case 'not_sent':
      return { kind: 'not_sent', reason, codes: answer.codes, ...certificate(seen), ...outage(seen) };
    case 'rejected':
      return { kind: 'rejected', ...answer };
    case 'refused':
      return { ...unknown(reason), refused: true };
    default:
      return unknown(reason);
  }
};

export const SUCCESS_NOT_OURS = { reason: 'success_not_ours_or_unreadable' } as const;

/** An absence of another document than was asked for. */
export const ABSENT_OTHER_DOCUMENT = { kind: 'inconclusive', reason: 'absent_other_document' } as const;

/** Only this many codes and texts are recorded, because events of the log must stay small; all of them are judged. */
const MAX_RECORDED = 50;

/** Later steps decide by these codes, so they are recorded even beyond that limit. */
const DECISIVE = new Set<string>([...existsCodes.dps, ...existsCodes.event]);

const answerOf = ({ exchange, errors }: CallEvidence) => {
  const all = [...new Set(errors.flatMap(({ code }) => (code === undefined ? [] : [code])))];
  const codes = all.filter((code, nth) => nth < MAX_RECORDED || DECISIVE.has(code));
  if (exchange.kind !== 'answered') return { codes };
  return { codes, httpStatus: exchange.status, texts: errors.slice(0, MAX_RECORDED).map(({ text }) => text) };
};

const named = (subject: Subject, { errors }: CallEvidence): { namedEvent?: CancelingEvent } =>
  present({ namedEvent: subject === 'event' ? namedCancelingEvent(errors) : undefined });

const outage = (seen: CallEvidence): { outage?: true } => (isOutage(seen) ? { outage: true } : {});

const certificate = (seen: CallEvidence): { certificateRefused?: true } =>
  refusesCertificate(seen) ? { certificateRefused: true } : {};

/** What a look-up's answer proves: presence by a JSON 200, absence, or nothing. */
type LookupAnswer =
  | { kind: 'present'; body: JsonBody }
  | { kind: 'absent' }
  | Extract<LookupResult<never>, { kind: 'inconclusive' }>;

/**
 * Absence is a JSON 404 whose only codes are `absentCodes` (docs/national-system.md#proof-of-absence). With 'any' it is a JSON 404 with the error
 * body of the authorizer and without `unansweredCodes`, because no code is catalogued for the event look-up. HTML, a 404 that holds the document and
 * one that names another document than `asked` prove nothing.
 */
export const judgeLookup = (
  exchange: Exchange,
  absentCodes: readonly string[] | 'any',
  asked?: Asked,
): LookupAnswer => {
  const seen = whatCallShows(exchange);
  const { body, errors } = seen;
  const inconclusive = (reason: string): LookupAnswer => ({
    kind: 'inconclusive',
    reason,
    ...outage(seen),
    ...certificate(seen),
    ...(mayBeNoActor(seen) ? { mayBeNoActor: true } : {}),
  });
  if (exchange.kind !== 'answered') return inconclusive(exchange.reason);
  if (body === undefined) return inconclusive(`no_json_${exchange.status}`);
  if (exchange.status === 200) return { kind: 'present', body };
  const proves =
    absentCodes === 'any'
      ? holdsErrorOfAuthorizer(seen) && !hasOneOf(errors, unansweredCodes)
      : errors.length > 0 && areAllOf(errors, absentCodes);
  if (exchange.status === 404 && contradicts(seen, absentCodes === 'any' ? 'event' : 'dps'))
    return inconclusive('absent_with_document');
  if (exchange.status === 404 && asked !== undefined && namesOther(body, asked))
    return inconclusive(ABSENT_OTHER_DOCUMENT.reason);
  return exchange.status === 404 && proves ? { kind: 'absent' } : inconclusive(`status_${exchange.status}`);
};

const LOCAL_REASONS: ReadonlySet<string> = new Set(localReasons);

/**
 * Whether the call ended by a TLS alert of the authorizer, or by a fault of TLS without a name. Such an alert may be about the certificate of one
 * company, so none counts as an outage. One that is about no certificate (`refusesCertificate`) therefore opens no breaker, and each send meets it.
 */
export const isAlert = (reason: string): boolean => reason === 'EPROTO' || /^ERR_SSL_.*ALERT/.test(reason);

/** Statuses about the caller or the rate of its calls; they count also without a JSON body. */
const ABOUT_THE_CALLER = new Set([401, 403, 429]);

/**
 * Whether the whole environment is out: unreachable, connection broken, 5xx, maintenance, or another body where JSON is expected. A fault of one
 * company or one document is no outage, because it would hold back the sends of all other companies. A look-up may meet a page with 404 or 422 on a
 * server that takes sends, so a 4xx without JSON is no outage there, and proves nothing.
 */
const isOutage = ({ exchange, body, errors, sentId }: CallEvidence): boolean => {
  if (exchange.kind !== 'answered') return !LOCAL_REASONS.has(exchange.reason) && !isAlert(exchange.reason);
  const { status } = exchange;
  if (ABOUT_THE_CALLER.has(status)) return false;
  // Codes that judge the document are an answer.
  const judges = errors.some(({ code }) => code === undefined || !transientCodes.has(code));
  const serverFault = status >= 500 && !judges;
  const isPageToLookUp = sentId === undefined && status >= 400 && status < 500;
  return serverFault || (body === undefined && !isPageToLookUp) || hasOneOf(errors, outageCodes);
};

/** `xDesc` of the events that cancel a note, in the letters that `plain` leaves (docs/national-system.md#event-types). */
const NAMES: Readonly<Record<CancelingEvent, string>> = {
  '101101': 'cancelamento de nfs e',
  '105102': 'cancelamento de nfs e por substituicao',
  '105104': 'cancelamento de nfs e deferido por analise fiscal',
  '305101': 'cancelamento de nfs e por oficio',
};

/**
 * The event that cancels the note, as an E0840 names the event in the way (docs/national-system.md#e0840). Undefined when the text names another
 * event or cannot be read.
 */
export const namedCancelingEvent = (errors: readonly AuthorizerError[]): CancelingEvent | undefined => {
  const names = errors.flatMap(({ code, text }) => (code === EVENT_EXISTS ? [nameIn(text)] : []));
  return cancelingEvents.find((type) => names.includes(NAMES[type]));
};

/** The words of the official text before the name and after it. The request has the words before the name too, so the last ones count. */
const BEFORE = 'o evento de ';
const AFTER = ' ja esta vinculado';

const nameIn = (text: string): string | undefined => {
  const words = plain(text);
  const end = words.indexOf(AFTER);
  const start = words.slice(0, Math.max(0, end)).lastIndexOf(BEFORE);
  return start < 0 ? undefined : words.slice(start + BEFORE.length, end);
};

/** Small letters and digits without accents, with one blank between words: servers differ in case, accents and marks. */
const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();
