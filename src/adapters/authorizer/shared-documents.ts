import { errorsOf, type JsonBody, listOf, objectOf, textOf } from './responses.js';

/** The documents of an answer of the distribution of the ADN (docs/national-system.md#distribution); undefined for an item that is no object. */
export const sharedDocumentsOf = (body: JsonBody): readonly (JsonBody | undefined)[] =>
  listOf(body.lotedfe).map(objectOf);

const NOTHING_FOUND = 'NENHUM_DOCUMENTO_LOCALIZADO';

/** Whether the answer says that there is no such document. */
export const saysNothingFound = (body: JsonBody): boolean =>
  textOf(body, 'statusProcessamento') === NOTHING_FOUND || errorsOf(body).some(({ code }) => code === 'E2220');

/** An event of a type that the Swagger does not list may cancel too; asking about it costs one look-up. */
export const mayEventCancel = (event: JsonBody): boolean => !CANCELS_NOTHING.has(textOf(event, 'tipoEvento') ?? '');

const CANCELS_NOTHING: ReadonlySet<string> = new Set([
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
