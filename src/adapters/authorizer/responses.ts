import { isAuthorizerCode, OTHER_CODE } from '../../domain/common/authorizer-code.js';
import { countJson } from './answer-bounds.js';

/**
 * One error item of the authorizer. `code` is missing when the item has none, or a text that cannot be a code. `code` is `OTHER_CODE` for a
 * code of a form that no catalogue has. In both cases `text` begins with what the item has in place of a code, because only texts are sealed.
 */
export type AuthorizerError = { code?: string; text: string };

/** A JSON object with its keys in lower case, because the live servers mix PascalCase and camelCase (docs/national-system.md#error-casing). */
export type JsonBody = { readonly [lowerCaseKey: string]: unknown };

/**
 * Returns the object of a JSON answer. Undefined for problem+json, for HTML even when its text is JSON, for JSON beyond `JSON_BOUNDS` or with a name
 * twice in one object, and for anything else that is not a JSON object.
 */
export const readJson = (contentType: string, body: Buffer): JsonBody | undefined => {
  if (/problem\+json|html/.test(contentType)) return undefined;
  const { exceededLimit, repeats } = countJson(body);
  if (exceededLimit !== undefined || repeats) return undefined;
  try {
    // Unlike `toString`, a decoder drops the byte order mark that some servers write.
    return objectOf(JSON.parse(new TextDecoder().decode(body)));
  } catch {
    return undefined;
  }
};

/** Items of `erros` and `erro`, each an array or one object, in any casing (docs/national-system.md#event-rejection). */
export const errorsOf = (body: JsonBody): readonly AuthorizerError[] =>
  [body.erros, body.erro].flatMap((value) => listOf(value)).map(errorOf);

export const textOf = (body: JsonBody, key: string): string | undefined => {
  const value = body[key.toLowerCase()];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** When the authorizer answered, by its clock, in epoch milliseconds; undefined without a time that can be read. */
export const processedMsOf = (body: JsonBody): number | undefined => {
  const ms = Date.parse(withOffset(textOf(body, 'dataHoraProcessamento') ?? ''));
  return Number.isNaN(ms) ? undefined : ms;
};

/** Stamps without an offset are Brasília time (docs/national-system.md#stamps-without-offset). */
const withOffset = (stamp: string): string => (/(?:Z|[+-]\d{2}:\d{2})$/.test(stamp) ? stamp : `${stamp}-03:00`);

/**
 * The packed event of a type: `eventos[].arquivoXml` of the live look-up, or `eventoXmlGZipB64` as the Swagger promises
 * (docs/national-system.md#event-look-up). An item without the number of a type may hold the event too: the document says of which type it is.
 */
export const packedEventOf = (body: JsonBody, eventType: string): string | undefined => {
  const item = listedEvent(body, eventType) ?? listOf(body.eventos).map(objectOf).find(hasNoNumber);
  return (item === undefined ? undefined : textOf(item, 'arquivoXml')) ?? textOf(body, 'eventoXmlGZipB64');
};

const hasNoNumber = (event: JsonBody | undefined): boolean =>
  event !== undefined && !/^\d{6}$/.test(String(event.tipoevento));

/** Whether an item of `eventos` has this type. */
export const listsEvent = (body: JsonBody, eventType: string): boolean => listedEvent(body, eventType) !== undefined;

const listedEvent = (body: JsonBody, eventType: string): JsonBody | undefined =>
  listOf(body.eventos)
    .map(objectOf)
    .find((entry) => String(entry?.tipoevento) === eventType);

/**
 * Whether the body is a whole list of events, each of a type that cancels nothing. False beside errors, for an item whose type is not one of these
 * numbers, and beside members that the look-up does not have, because the list may then be one page of several.
 */
export const listsOnlyOtherEvents = (body: JsonBody): boolean =>
  Array.isArray(body.eventos) &&
  errorsOf(body).length === 0 &&
  Object.keys(body).every((name) => MEMBERS_OF_A_LIST.has(name)) &&
  body.eventos.every((item) => CANCELS_NOTHING.has(String(objectOf(item)?.tipoevento)));

const MEMBERS_OF_A_LIST: ReadonlySet<string> = new Set([
  'tipoambiente',
  'versaoaplicativo',
  'datahoraprocessamento',
  'chaveacesso',
  'eventos',
  'alertas',
  'erros',
  'erro',
]);

/** Types of events that cancel nothing (docs/national-system.md#event-types). */
const CANCELS_NOTHING: ReadonlySet<string> = new Set([
  '101103',
  '105105',
  '202201',
  '202205',
  '203202',
  '203206',
  '204203',
  '204207',
  '205204',
  '205208',
  '305102',
  '305103',
  '467201',
  '907201',
  '907209',
]);

/** The documents of an answer of the distribution of the ADN (docs/national-system.md#distribution); undefined for an item that is no object. */
export const sharedDocumentsOf = (body: JsonBody): readonly (JsonBody | undefined)[] =>
  listOf(body.lotedfe).map(objectOf);

const NOTHING_FOUND = 'NENHUM_DOCUMENTO_LOCALIZADO';

/** Whether the answer says that there is no such document. */
export const saysNothingFound = (body: JsonBody): boolean =>
  textOf(body, 'statusProcessamento') === NOTHING_FOUND || errorsOf(body).some(({ code }) => code === 'E2220');

/** Whether a document of the ADN is a note. It has no type of an event. */
export const isNote = (document: JsonBody): boolean => textOf(document, 'tipoDocumento') === 'NFSE';

/** An event of a type that the Swagger does not list may cancel too; asking about it costs one look-up. */
export const mayEventCancel = (event: JsonBody): boolean =>
  !CANCELS_NOTHING_AT_ADN.has(textOf(event, 'tipoEvento') ?? '');

/** Names of the ADN for events that cancel nothing. */
const CANCELS_NOTHING_AT_ADN: ReadonlySet<string> = new Set([
  'SOLICITACAO_CANCELAMENTO_ANALISE_FISCAL',
  'CANCELAMENTO_INDEFERIDO_ANALISE_FISCAL',
  'CONFIRMACAO_PRESTADOR',
  'REJEICAO_PRESTADOR',
  'CONFIRMACAO_TOMADOR',
  'REJEICAO_TOMADOR',
  'CONFIRMACAO_INTERMEDIARIO',
  'REJEICAO_INTERMEDIARIO',
  'CONFIRMACAO_TACITA',
  'ANULACAO_REJEICAO',
  'BLOQUEIO_POR_OFICIO',
  'DESBLOQUEIO_POR_OFICIO',
  'INCLUSAO_NFSE_DAN',
  'TRIBUTOS_NFSE_RECOLHIDOS',
]);

/** Raw texts are kept for support, cut to this many characters because events of the log must stay small. */
const MAX_TEXT = 1000;

const errorOf = (item: unknown): AuthorizerError => {
  const error = objectOf(item) ?? {};
  const { code, inText } = codeOf(textOf(error, 'codigo')?.trim());
  const words = [inText, textOf(error, 'descricao') ?? textOf(error, 'mensagem'), textOf(error, 'complemento')];
  const text = words
    .filter((part) => part !== undefined)
    .join(' ')
    .slice(0, MAX_TEXT)
    .replace(UNPRINTABLE, ' ');
  return code === undefined ? { text } : { code, text };
};

/** A code is not sealed: it reaches the log, log lines, metrics, terminals and clients. A text with blanks or control characters is no code. */
const codeOf = (said: string | undefined): { code?: string; inText?: string } => {
  if (said === undefined || said === '') return {};
  const inText = said.slice(0, MAX_CODE_IN_TEXT);
  if (!CODE_LIKE.test(said)) return { inText };
  const code = said.toUpperCase();
  return isAuthorizerCode(code) ? { code } : { code: OTHER_CODE, inText };
};

/** Of a long text in place of a code, so that the description still finds room. */
const MAX_CODE_IN_TEXT = 100;

/** Control characters and halves of pairs. Each takes six bytes in an event, and terminals obey some of them. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/gu;

const CODE_LIKE = /^[\x21-\x7e]{1,20}$/;

export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

/** Undefined for what is not an object. Members that differ only in casing become one list, so that none of them hides another. */
export const objectOf = (value: unknown): JsonBody | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const members = new Map<string, unknown>();
  const lists = new Map<string, unknown[]>();
  for (const [name, inner] of Object.entries(value)) {
    const key = name.toLowerCase();
    if (!members.has(key)) members.set(key, inner);
    else {
      const list = lists.get(key) ?? [...listOf(members.get(key))];
      for (const one of listOf(inner)) list.push(one);
      lists.set(key, list);
      members.set(key, list);
    }
  }
  return Object.fromEntries(members);
};
