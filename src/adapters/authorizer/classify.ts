import type { SendResult } from '../../ports/authorizer.js';
import {
  alreadyThere,
  classification,
  contradicts,
  every,
  type Seen,
  type Subject,
  seenIn,
  some,
  transientCodes,
} from './classification.js';
import type { Exchange } from './exchange.js';
import { isOutage } from './outage.js';
import type { JsonBody } from './responses.js';

/** What a 2xx body holds: the document that embeds what was sent, or why nothing is known either. */
export type SuccessRead<Success> = { result: Success } | { reason: string; signatureFault?: string };

/** Judges one send; `readSuccess` reads the document from a 2xx body. */
export const classifySend = <Success>(
  subject: Subject,
  exchange: Exchange,
  readSuccess: (body: JsonBody) => SuccessRead<Success>,
): SendResult<Success> => {
  const seen = seenIn(exchange);
  const row = classification.find(({ when }) => when(seen, subject));
  const reason = exchange.kind === 'answered' ? (row?.name ?? 'unclassified') : exchange.reason;
  const answer = answerOf(seen);
  const unknown = (why: string): SendResult<Success> => ({ kind: 'unknown', reason: why, ...answer, ...outage(seen) });
  switch (row?.is) {
    case 'success': {
      const read: SuccessRead<Success> = seen.body === undefined ? NOT_OURS : readSuccess(seen.body);
      if ('result' in read) return { kind: 'done', result: read.result };
      const { reason: why, ...alarm } = read;
      return { ...unknown(why), ...alarm };
    }
    case 'not_sent': {
      const certificateRefused = exchange.kind === 'answered';
      return { kind: 'not_sent', reason, codes: answer.codes, certificateRefused, ...outage(seen) };
    }
    case 'rejected':
      return { kind: 'rejected', ...answer };
    default:
      return unknown(reason);
  }
};

export const NOT_OURS = { reason: 'success_not_ours_or_unreadable' } as const;

/** An event of the log is small, so what is recorded is bounded; what is judged is not. */
const MAX_RECORDED = 50;

/** Later steps decide by these too, so they are recorded however many others stand before them. */
const DECISIVE = new Set<string>([...alreadyThere.dps, ...alreadyThere.event]);

const answerOf = ({ exchange, errors }: Seen) => {
  const all = [...new Set(errors.flatMap(({ code }) => (code === undefined ? [] : [code])))];
  const codes = all.filter((code, nth) => nth < MAX_RECORDED || DECISIVE.has(code));
  if (exchange.kind !== 'answered') return { codes };
  return { codes, httpStatus: exchange.status, texts: errors.slice(0, MAX_RECORDED).map(({ text }) => text) };
};

const outage = (seen: Seen): { outage?: true } => (isOutage(seen) ? { outage: true } : {});

/** What a look-up's answer says: JSON 200, a proof of absence, or nothing. */
export type LookupAnswer =
  | { kind: 'present'; body: JsonBody }
  | { kind: 'absent' }
  | { kind: 'inconclusive'; reason: string; outage?: true };

/**
 * Absence is a JSON 404 whose only codes are `absentCodes`; without a list any JSON 404 that is not of the moment
 * (the event look-up has no catalogued code). HTML proves nothing (docs/national-system.md#html-answers), and neither does a 404 that shows the
 * document.
 */
export const classifyLookup = (exchange: Exchange, absentCodes: readonly string[] | 'any'): LookupAnswer => {
  const seen = seenIn(exchange);
  const { body, errors } = seen;
  const inconclusive = (reason: string): LookupAnswer => ({ kind: 'inconclusive', reason, ...outage(seen) });
  if (exchange.kind !== 'answered') return inconclusive(exchange.reason);
  if (body === undefined) return inconclusive(`no_json_${exchange.status}`);
  if (exchange.status === 200) return { kind: 'present', body };
  const proves =
    absentCodes === 'any' ? !some(errors, transientCodes) : errors.length > 0 && every(errors, absentCodes);
  if (exchange.status === 404 && contradicts(seen, absentCodes === 'any' ? 'event' : 'dps'))
    return inconclusive('absent_with_document');
  return exchange.status === 404 && proves ? { kind: 'absent' } : inconclusive(`status_${exchange.status}`);
};
