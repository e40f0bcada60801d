import type { SendResult } from '../../ports/authorizer.js';
import { cataloguedCodes } from './catalogued-codes.js';
import type { Exchange } from './exchange.js';
import { type AuthorizerError, errorsOf, type JsonBody, readJson } from './responses.js';

/** Codes that say "you have sent this before": only a look-up can tell what exists (design section 6, 4 and 7). */
export const alreadyThere = { dps: ['E0014'], event: ['E0840', 'E0802'] } as const;

export type Subject = keyof typeof alreadyThere;

/** What one answer shows, before it is judged. */
type Seen = { subject: Subject; status: number; body: JsonBody | undefined; errors: readonly AuthorizerError[] };

type Judgement = 'success' | 'not_sent' | 'rejected' | 'unknown';

/** The channel's certificate was refused, so nothing was looked at: no fault of the invoice. */
const CHANNEL_CODES = new Set(['E1200', 'E1203', 'E1205', 'E1207', 'E1208', 'E1209']);

/** Of the moment, not of the document: revocation list unreachable, maintenance, uncatalogued faults. */
const TRANSIENT_CODES = new Set(['E1206', 'E1217', 'RNG9999', 'E999']);

/**
 * Design section 6, item 4, from top to bottom; the first row that fits decides. Whatever is not provably final is
 * unknown: a wrong "unknown" costs a look-up, a wrong "rejected" a second note.
 */
const TABLE: readonly { when: (seen: Seen) => boolean; is: Judgement; reason: string }[] = [
  { when: ({ status }) => status >= 200 && status < 300, is: 'success', reason: '' },
  { when: ({ status }) => status < 400, is: 'unknown', reason: 'unexpected_status' },
  { when: ({ status }) => status === 429, is: 'unknown', reason: 'too_many_requests' },
  { when: ({ body }) => body === undefined, is: 'unknown', reason: 'no_json' },
  { when: ({ errors }) => errors.length === 0, is: 'unknown', reason: 'no_codes' },
  {
    when: ({ subject, errors }) => errors.some(isOneOf(alreadyThere[subject])),
    is: 'unknown',
    reason: 'already_there',
  },
  { when: ({ errors }) => errors.some(isOneOf(TRANSIENT_CODES)), is: 'unknown', reason: 'transient_code' },
  { when: ({ errors }) => !errors.every(isOneOf(cataloguedCodes)), is: 'unknown', reason: 'uncatalogued_code' },
  { when: ({ errors }) => errors.every(isOneOf(CHANNEL_CODES)), is: 'not_sent', reason: 'certificate_refused' },
  { when: ({ errors }) => errors.some(isOneOf(CHANNEL_CODES)), is: 'unknown', reason: 'mixed_codes' },
  { when: () => true, is: 'rejected', reason: '' },
];

const isOneOf = (codes: Iterable<string>) => {
  const wanted = new Set(codes);
  return ({ code }: AuthorizerError): boolean => code !== undefined && wanted.has(code);
};

/**
 * Judges one send. `readSuccess` reads the document from a 2xx body and says undefined unless it embeds what was sent:
 * then nothing is known either.
 */
export const classifySend = <Success>(
  subject: Subject,
  exchange: Exchange,
  readSuccess: (body: JsonBody) => Success | undefined,
): SendResult<Success> => {
  if (exchange.kind === 'not_handed') {
    return { kind: 'not_sent', reason: exchange.reason, codes: [], certificateRefused: false };
  }
  if (exchange.kind === 'broken') return { kind: 'unknown', reason: exchange.reason, codes: [] };
  const body = readJson(exchange.contentType, exchange.body);
  const errors = body === undefined ? [] : errorsOf(body);
  const row = TABLE.find(({ when }) => when({ subject, status: exchange.status, body, errors }));
  const codes = [...new Set(errors.flatMap(({ code }) => (code === undefined ? [] : [code])))];
  const answer = { codes, httpStatus: exchange.status, texts: errors.map(({ text }) => text) };
  switch (row?.is) {
    case 'success': {
      const result = body === undefined ? undefined : readSuccess(body);
      return result === undefined
        ? { kind: 'unknown', reason: 'success_not_ours_or_unreadable', ...answer }
        : { kind: 'done', result };
    }
    case 'not_sent':
      return { kind: 'not_sent', reason: row.reason, codes, certificateRefused: true };
    case 'rejected':
      return { kind: 'rejected', ...answer };
    default:
      return { kind: 'unknown', reason: row?.reason ?? 'unclassified', ...answer };
  }
};

/** What a look-up's answer says: JSON 200, a proof of absence, or nothing. */
export type LookupAnswer =
  | { kind: 'present'; body: JsonBody }
  | { kind: 'absent' }
  | { kind: 'inconclusive'; reason: string };

/**
 * Absence is a JSON 404 whose only codes are `absentCodes`; without a list any JSON 404 that is not of the moment
 * (the event look-up has no catalogued code). HTML proves nothing (openapi deviation 12).
 */
export const classifyLookup = (exchange: Exchange, absentCodes: readonly string[] | 'any'): LookupAnswer => {
  if (exchange.kind !== 'answered') return { kind: 'inconclusive', reason: exchange.reason };
  const body = readJson(exchange.contentType, exchange.body);
  if (body === undefined) return { kind: 'inconclusive', reason: `no_json_${exchange.status}` };
  if (exchange.status === 200) return { kind: 'present', body };
  const errors = errorsOf(body);
  const proves =
    absentCodes === 'any'
      ? !errors.some(isOneOf(TRANSIENT_CODES))
      : errors.length > 0 && errors.every(isOneOf(absentCodes));
  return exchange.status === 404 && proves
    ? { kind: 'absent' }
    : { kind: 'inconclusive', reason: `status_${exchange.status}` };
};
