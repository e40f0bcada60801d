import { cataloguedCodes } from './catalogued-codes.js';
import type { Exchange } from './exchange.js';
import { type AuthorizerError, errorsOf, type JsonBody, listOf, objectOf, readJson } from './responses.js';

/** Codes that say "you have sent this before": only a look-up can tell what exists (design section 6, 4 and 7). */
export const alreadyThere = { dps: ['E0014'], event: ['E0840', 'E0802'] } as const;

export type Subject = keyof typeof alreadyThere;

/** What one call shows, before it is judged. `body` is undefined unless the answer is a JSON object. */
export type Seen = { exchange: Exchange; body: JsonBody | undefined; errors: readonly AuthorizerError[] };

export const seenIn = (exchange: Exchange): Seen => {
  const body = exchange.kind === 'answered' ? readJson(exchange.contentType, exchange.body) : undefined;
  return { exchange, body, errors: body === undefined ? [] : errorsOf(body) };
};

export type Judgement = 'success' | 'not_sent' | 'rejected' | 'unknown';

/** The channel's certificate was refused, so nothing was looked at: no fault of the invoice. */
const CHANNEL_CODES = ['E1200', 'E1203', 'E1205', 'E1207', 'E1208', 'E1209'];

/** Of the moment, not of the document: revocation list unreachable, maintenance, uncatalogued faults. */
export const transientCodes: readonly string[] = ['E1206', 'E1217', 'RNG9999', 'E999'];

export type Row = { name: string; when: (seen: Seen, subject: Subject) => boolean; is: Judgement };

const statusOf = ({ exchange }: Seen): number => (exchange.kind === 'answered' ? exchange.status : 0);

const isOneOf =
  (codes: Pick<ReadonlySet<string>, 'has'>) =>
  ({ code }: AuthorizerError): boolean =>
    code !== undefined && codes.has(code);

export const some = (errors: readonly AuthorizerError[], codes: Iterable<string>): boolean =>
  errors.some(isOneOf(new Set(codes)));

export const every = (errors: readonly AuthorizerError[], codes: Iterable<string>): boolean =>
  errors.every(isOneOf(new Set(codes)));

/** What gateways and proxies answer for a server that may have done its work. */
const GATEWAY_STATUSES = [408, 502, 504];

/** Members that only what exists can fill. `chaveAcesso` beside an event names the note that was asked about. */
const existing: Readonly<Record<Subject, (body: JsonBody) => readonly unknown[]>> = {
  dps: (body) => [body.chaveacesso, body.nfsexmlgzipb64],
  event: (body) => [body.eventoxmlgzipb64, ...listOf(body.eventos).map((item) => objectOf(item)?.arquivoxml)],
};

/** Null, an empty list and a blank text are what real refusals hold where nothing exists. */
const isFilled = (value: unknown): boolean =>
  listOf(value).some((one) => one !== null && (typeof one !== 'string' || one.trim() !== ''));

/** Whether an answer shows the document whose refusal or absence its codes claim. */
export const contradicts = ({ body }: Seen, subject: Subject): boolean =>
  body !== undefined && existing[subject](body).some(isFilled);

/**
 * Design section 6, item 4, from top to bottom; the first row that fits decides, and the last one always fits. Whatever is
 * not provably final is unknown: a wrong "unknown" costs a look-up, a wrong "rejected" a second note. `name` is the reason
 * that is recorded where the exchange has none of its own.
 */
export const classification: readonly Row[] = [
  { name: 'not_handed', when: ({ exchange }) => exchange.kind === 'not_handed', is: 'not_sent' },
  { name: 'broken', when: ({ exchange }) => exchange.kind === 'broken', is: 'unknown' },
  { name: 'success', when: (seen) => statusOf(seen) >= 200 && statusOf(seen) < 300, is: 'success' },
  { name: 'unexpected_status', when: (seen) => statusOf(seen) < 400, is: 'unknown' },
  { name: 'too_many_requests', when: (seen) => statusOf(seen) === 429, is: 'unknown' },
  { name: 'no_json', when: ({ body }) => body === undefined, is: 'unknown' },
  { name: 'no_codes', when: ({ errors }) => errors.length === 0, is: 'unknown' },
  { name: 'already_there', when: ({ errors }, subject) => some(errors, alreadyThere[subject]), is: 'unknown' },
  { name: 'transient_code', when: ({ errors }) => some(errors, transientCodes), is: 'unknown' },
  { name: 'uncatalogued_code', when: ({ errors }) => !errors.every(isOneOf(cataloguedCodes)), is: 'unknown' },
  { name: 'gateway_status', when: (seen) => GATEWAY_STATUSES.includes(statusOf(seen)), is: 'unknown' },
  { name: 'refused_with_document', when: contradicts, is: 'unknown' },
  { name: 'certificate_refused', when: ({ errors }) => every(errors, CHANNEL_CODES), is: 'not_sent' },
  { name: 'mixed_codes', when: ({ errors }) => some(errors, CHANNEL_CODES), is: 'unknown' },
  { name: 'final_codes', when: () => true, is: 'rejected' },
];
