import { isAccessKey } from '../../domain/common/access-key.js';
import { existsCodes, OTHER_CODE } from '../../domain/common/authorizer-code.js';
import { areaReasons } from '../../domain/invoice/messages/areas.js';
import type { Exchange } from './exchange.js';
import { type AuthorizerError, errorsOf, type JsonBody, listOf, objectOf, readJson, textOf } from './responses.js';

export type Subject = keyof typeof existsCodes;

/**
 * What one call shows, before it is judged. `body` is undefined unless the answer is a JSON object. `sentId`: the id of the document that a send
 * carried; absent for a look-up.
 */
export type CallEvidence = {
  exchange: Exchange;
  body: JsonBody | undefined;
  errors: readonly AuthorizerError[];
  sentId?: string;
};

export const whatCallShows = (exchange: Exchange): CallEvidence => {
  const body = exchange.kind === 'answered' ? readJson(exchange.contentType, exchange.body) : undefined;
  return { exchange, body, errors: body === undefined ? [] : errorsOf(body) };
};

/** `refused`: a refusal that becomes final when look-ups prove that nothing came of it. */
type SendMeaning = 'success' | 'not_sent' | 'rejected' | 'refused' | 'unknown';

/** What a code says of an answer, where it is not simply final (docs/national-system.md#error-codes). */
type Special = {
  /** Passes by itself and says nothing about the document. */
  passes?: true;
  /** Is a code of look-ups, or of faults of the authorizer. In the answer to a send it proves nothing, so it counts as uncatalogued there. */
  notOfSends?: true;
  /** The whole environment is out. */
  outage?: true;
  /** The authorizer refused the certificate of the connection and did not look at the document. */
  channel?: true;
  /**
   * The rule may be broken only for a while, or by the authorizer itself (docs/national-system.md#codes-that-prove-nothing-final). A cancellation
   * that it refuses is sent again, because its failure would be permanent in live mode (SVC-10.4).
   */
  notFinalFor?: readonly Subject[];
  /** The stamp is later than the authorizer's clock. The same bytes pass later, unless another code beside it refuses them for good. */
  stampAheadOf?: Subject;
};

/** The codes that say "it exists" are `existsCodes`, because the deciders read those too. */
const SPECIAL: Readonly<Record<string, Special>> = {
  E0008: { stampAheadOf: 'dps' },
  E1200: { channel: true },
  E1203: { channel: true },
  E1205: { channel: true },
  E1206: { passes: true },
  E1207: { channel: true },
  E1208: { channel: true },
  E1209: { channel: true },
  E1217: { passes: true, notOfSends: true, outage: true },
  E1263: { notFinalFor: ['dps'] },
  E1268: { notFinalFor: ['dps'] },
  E1278: { notFinalFor: ['dps', 'event'] },
  E1802: { notFinalFor: ['event'] },
  E1831: { notFinalFor: ['event'] },
  E1843: { stampAheadOf: 'event' },
  E1983: { notFinalFor: ['event'] },
  E1986: { notFinalFor: ['event'] },
  E1991: { notFinalFor: ['event'] },
  E2220: { notOfSends: true },
  E2243: { notOfSends: true },
  E2401: { notOfSends: true },
  E2404: { notOfSends: true },
  E2406: { notOfSends: true },
  E999: { passes: true, notOfSends: true },
  RNG9999: { passes: true, notOfSends: true },
};

/** Each of them has its meaning in a test. */
export const specialCodes: ReadonlySet<string> = new Set(Object.keys(SPECIAL));

const codesThat = (has: (special: Special) => boolean | undefined): ReadonlySet<string> =>
  new Set(Object.entries(SPECIAL).flatMap(([code, special]) => (has(special) === true ? [code] : [])));

const channelCodes = codesThat(({ channel }) => channel);

/** Statuses with which a web server refuses a certificate by a page (docs/national-system.md#mutual-tls). */
const REFUSED_BY_THE_SERVER = [401, 403, 495, 496];

/** A TLS alert with which a server refuses the certificate of the client. */
const CERTIFICATE_ALERT = /^ERR_SSL_\w*ALERT_\w*(?:CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/;

/**
 * Whether the call says that the authorizer refuses the certificate of the connection: by a TLS alert, by a page or an answer without codes, or by
 * codes of the channel alone.
 */
export const refusesCertificate = (seen: CallEvidence): boolean => {
  if (seen.exchange.kind !== 'answered') return CERTIFICATE_ALERT.test(seen.exchange.reason);
  return seen.errors.length === 0
    ? REFUSED_BY_THE_SERVER.includes(statusOf(seen))
    : !GATEWAY_STATUSES.includes(statusOf(seen)) && areAllOf(seen.errors, channelCodes);
};

/** Statuses with which Sefin refuses a look-up to a company that is no actor of the document (docs/national-system.md#operations). */
const NO_ACTOR = [401, 403];

/** Whether a look-up was refused in a way that leaves open whether the certificate or the company is the reason. */
export const mayBeNoActor = (seen: CallEvidence): boolean =>
  seen.errors.length === 0 && NO_ACTOR.includes(statusOf(seen));

export const transientCodes = codesThat(({ passes }) => passes);

export const outageCodes = codesThat(({ outage }) => outage);

/** Codes beside which a look-up proves no absence: the look-up was not answered. */
export const unansweredCodes = codesThat(({ passes, channel }) => passes ?? channel);

const notFinalCodes = {
  dps: codesThat(({ notFinalFor }) => notFinalFor?.includes('dps')),
  event: codesThat(({ notFinalFor }) => notFinalFor?.includes('event')),
};

const clockCodes = {
  dps: codesThat(({ stampAheadOf }) => stampAheadOf === 'dps'),
  event: codesThat(({ stampAheadOf }) => stampAheadOf === 'event'),
};

type Row = { name: string; when: (seen: CallEvidence, subject: Subject) => boolean; is: SendMeaning };

const statusOf = ({ exchange }: CallEvidence): number => (exchange.kind === 'answered' ? exchange.status : 0);

const isOneOf =
  (codes: Pick<ReadonlySet<string>, 'has'>) =>
  ({ code }: AuthorizerError): boolean =>
    code !== undefined && codes.has(code);

export const hasOneOf = (errors: readonly AuthorizerError[], codes: Iterable<string>): boolean =>
  errors.some(isOneOf(new Set(codes)));

export const areAllOf = (errors: readonly AuthorizerError[], codes: Iterable<string>): boolean =>
  errors.every(isOneOf(new Set(codes)));

/** Statuses that a gateway or proxy answers although the server behind it may have done its work. */
const GATEWAY_STATUSES = [408, 502, 504];

/** Members that are filled only when the document exists. `chaveAcesso` does not count for an event: it is the note of the question. */
const existing: Readonly<Record<Subject, (body: JsonBody) => readonly unknown[]>> = {
  dps: (body) => [body.chaveacesso, body.nfsexmlgzipb64],
  event: (body) => [body.eventoxmlgzipb64, ...listOf(body.eventos).map((item) => objectOf(item)?.arquivoxml)],
};

/** Real refusals hold null, an empty list or a blank text in these members. */
const isFilled = (value: unknown): boolean =>
  listOf(value).some((one) => one !== null && (typeof one !== 'string' || one.trim() !== ''));

/** Whether an answer holds the document that its codes call refused or absent. */
export const contradicts = ({ body }: CallEvidence, subject: Subject): boolean =>
  body !== undefined && existing[subject](body).some(isFilled);

/**
 * The first row that fits decides; an answer that fits none is unknown. What is not provably final is unknown: a wrong "unknown" costs a look-up, a
 * wrong "rejected" a second note (docs/architecture.md#never-twice). `name` is the recorded reason unless the exchange has a reason itself.
 */
export const answerTable: readonly Row[] = [
  { name: 'not_handed', when: ({ exchange }) => exchange.kind === 'not_handed', is: 'not_sent' },
  { name: 'broken', when: ({ exchange }) => exchange.kind === 'broken', is: 'unknown' },
  { name: 'success', when: (seen) => statusOf(seen) >= 200 && statusOf(seen) < 300, is: 'success' },
  { name: 'unexpected_status', when: (seen) => statusOf(seen) < 400, is: 'unknown' },
  { name: 'too_many_requests', when: (seen) => statusOf(seen) === 429, is: 'unknown' },
  { name: 'no_json', when: ({ body }) => body === undefined, is: 'unknown' },
  { name: 'no_codes', when: ({ errors }) => errors.length === 0, is: 'unknown' },
  { name: 'already_there', when: ({ errors }, subject) => hasOneOf(errors, existsCodes[subject]), is: 'unknown' },
  { name: 'transient_code', when: ({ errors }) => hasOneOf(errors, transientCodes), is: 'unknown' },
  { name: 'code_not_final', when: ({ errors }, subject) => hasOneOf(errors, notFinalCodes[subject]), is: 'unknown' },
  { name: 'stamp_ahead', when: ({ errors }, subject) => areAllOf(errors, clockCodes[subject]), is: 'unknown' },
  { name: 'other_document', when: namesOtherDps, is: 'unknown' },
  { name: 'uncatalogued_refusal', when: isUncataloguedRefusal, is: 'refused' },
  { name: 'uncatalogued_code', when: ({ errors }) => !errors.every(isOneOf(cataloguedCodes)), is: 'unknown' },
  { name: 'gateway_status', when: (seen) => GATEWAY_STATUSES.includes(statusOf(seen)), is: 'unknown' },
  { name: 'refused_with_document', when: contradicts, is: 'unknown' },
  { name: 'certificate_refused', when: ({ errors }) => areAllOf(errors, channelCodes), is: 'not_sent' },
  { name: 'mixed_codes', when: ({ errors }) => hasOneOf(errors, channelCodes), is: 'unknown' },
  {
    name: 'final_codes',
    when: ({ errors }) => errors.length > 0 && errors.every(isOneOf(cataloguedCodes)),
    is: 'rejected',
  },
];

/**
 * Whether the refusal names a DPS that this send did not carry. A connection is used again and a proxy may mix answers up, so the refusal of another
 * document proves nothing about this one (docs/national-system.md#error-body).
 */
function namesOtherDps({ body, sentId }: CallEvidence): boolean {
  return namesAnother(body?.iddps, isDpsId, sentId);
}

/** What a look-up asks for: a DPS by its id, or the events of a note by its access key. */
export type Asked = { dpsId: string } | { accessKey: string };

/** Whether the answer names another document than the look-up asked for. Real absences name none, so such an answer was mixed up. */
export const namesOther = (body: JsonBody, asked: Asked): boolean =>
  'dpsId' in asked
    ? namesAnother(body.iddps, isDpsId, asked.dpsId)
    : namesAnother(body.chaveacesso, isAccessKey, asked.accessKey);

/** A value of another form names nothing. */
function namesAnother(values: unknown, isId: (id: string) => boolean, own: string | undefined): boolean {
  return listOf(values).some((id) => typeof id === 'string' && isId(id.trim()) && id.trim() !== own);
}

/** Of any emitter, also one with a CPF. */
const DPS_ID = /^DPS[0-9]{7}[12][0-9A-Z]{14}[0-9]{20}$/;

const isDpsId = (id: string): boolean => DPS_ID.test(id);

/** The form of the rules' codes in the annexes. */
const RULE_CODE = /^E\d{4}$/;

/** What the documented error body holds beside its items, and the body of a gateway lacks (docs/national-system.md#error-body). */
const membersOfError = (body: JsonBody): readonly unknown[] => [
  body.tipoambiente,
  textOf(body, 'dataHoraProcessamento'),
];

/** Codes beside which a refusal says nothing final about the document. */
const notAboutTheDocument = codesThat(({ passes, notOfSends, channel }) => passes ?? notOfSends ?? channel);

/**
 * A refusal of a rule that is newer than the catalogue: HTTP 400 with the documented error body (docs/national-system.md#error-body), each item with
 * a code of the form of the rules. Rows before it have taken the codes that say "it exists" and the transient codes.
 */
function isUncataloguedRefusal(seen: CallEvidence, subject: Subject): boolean {
  const { body, errors } = seen;
  if (statusOf(seen) !== 400 || body === undefined || contradicts(seen, subject)) return false;
  const isDocumented = membersOfError(body).every((member) => member !== undefined);
  const areRules = errors.every(({ code }) => code !== undefined && RULE_CODE.test(code));
  return isDocumented && areRules && !hasOneOf(errors, notAboutTheDocument) && !errors.every(isOneOf(cataloguedCodes));
}

/**
 * Whether the error is one of the authorizer: an item with a code of the authorizer's form, or an item beside a member of the documented body. The
 * framework and a gateway answer a path that they do not know by JSON without either (docs/national-system.md#proof-of-absence).
 */
export const holdsErrorOfAuthorizer = ({ body, errors }: CallEvidence): boolean => {
  if (body === undefined || errors.length === 0) return false;
  const hasCode = errors.some(({ code }) => code !== undefined && code !== OTHER_CODE);
  return hasCode || membersOfError(body).some((member) => member !== undefined);
};

/**
 * The codes with a known meaning in the answer to a send: the rules of Annex I v1.01-20260209 and Annex II v1.01-20260122, and the observed `E6154`,
 * `E6155`, `RNG6110`, `RNG6159` and `RNG9997` (docs/national-system.md#error-codes). They are the codes of areas.ts, so a code that is added there
 * becomes final.
 */
export const cataloguedCodes: ReadonlySet<string> = new Set(
  [...areaReasons.keys()].filter((code) => SPECIAL[code]?.notOfSends !== true),
);
