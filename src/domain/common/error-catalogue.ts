/** The closed set of error families (VER-3). */
type ErrorType = 'invalid_request' | 'authentication_error' | 'permission_error' | 'rate_limit_error' | 'api_error';

/**
 * One code of docs/contract.md, "Error codes". `message` is Portuguese, for people, and says what to do; a refusal may carry a more precise
 * one. `param` is fixed for codes where one field is always at fault (ERR-param).
 */
export type CatalogueEntry = {
  status: number;
  type: ErrorType;
  retryable: boolean;
  message: string;
  param?: string;
};

const invalid = (status: number, message: string, param?: string): CatalogueEntry => ({
  status,
  type: 'invalid_request',
  retryable: false,
  message,
  ...(param === undefined ? {} : { param }),
});

const badRequest = (message: string, param?: string): CatalogueEntry => invalid(400, message, param);

const conflict = (message: string, param?: string): CatalogueEntry => invalid(409, message, param);

const unprocessable = (message: string, param?: string): CatalogueEntry => invalid(422, message, param);

const forbidden = (message: string): CatalogueEntry => ({
  status: 403,
  type: 'permission_error',
  retryable: false,
  message,
});

export const errorCatalogue = {
  unauthorized: {
    status: 401,
    type: 'authentication_error',
    retryable: false,
    message: 'Chave de API ausente, inválida ou revogada. Envie o cabeçalho Authorization: Bearer com uma chave ativa.',
  },
  feature_not_enabled: forbidden('A API ainda não está habilitada para esta empresa. Peça a habilitação ao suporte.'),
  insufficient_scope: forbidden('Esta chave não tem o escopo que a rota exige. Use uma chave com o escopo necessário.'),
  'company.issuer_not_enabled': unprocessable(
    'A emissão pela API está desligada para a empresa. Peça ao suporte que a ligue antes de emitir.',
  ),
  'company.issuer_not_configured': unprocessable(
    'O emissor nacional da empresa não está configurado. Peça ao suporte que conclua a configuração.',
  ),
  'company.issuer_not_approved': unprocessable(
    'A empresa ainda não foi liberada para emitir. Aguarde a liberação ou fale com o suporte.',
  ),
  'company.certificate_missing': unprocessable(
    'O certificado digital da empresa está ausente ou vencido. Envie um certificado A1 válido ao suporte.',
  ),
  'nfse.cnae_missing_ctribnac': unprocessable(
    'A atividade não tem código de serviço (código de tributação nacional), como o comércio. Sem cnae vale a atividade principal. Envie o cnae da atividade do serviço prestado (GET /v1/activities); se ela não está na lista, fale com o suporte. Não use o código de outro serviço.',
    'cnae',
  ),
  'nfse.cnae_missing_nbs': unprocessable(
    'O serviço não tem código NBS no cadastro. Peça ao suporte que o inclua. Não use o código de outro serviço.',
    'cnae',
  ),
  'nfse.municipality_not_covered': unprocessable(
    'A cidade e o estado do cadastro da empresa não correspondem a um município do IBGE. Peça ao suporte que corrija o cadastro.',
  ),
  'nfse.cnae_not_allowed': unprocessable(
    'O CNAE enviado não está no cadastro da empresa ou não está liberado. Consulte GET /v1/activities e envie o da atividade do serviço prestado. Sem cnae, conta a atividade principal; obras, eventos e fornecimento de mão de obra são emitidos no portal nacional, não por esta API.',
    'cnae',
  ),
  'nfse.cnae_without_default': unprocessable(
    'Este CNAE tem mais de um código de serviço e nenhum é o padrão. Envie também service_code.',
    'service_code',
  ),
  'nfse.service_code_unknown': unprocessable(
    'O service_code não existe no catálogo nacional. São 6 dígitos; confira se não foi enviado o CNAE, que tem 7.',
    'service_code',
  ),
  'nfse.service_code_not_allowed': unprocessable(
    'O service_code existe, mas não pertence às atividades da empresa ou ao CNAE enviado. Consulte GET /v1/activities. Obras, eventos e fornecimento de mão de obra são recusados mesmo numa empresa que os tem: emita-os no portal nacional.',
    'service_code',
  ),
  'nfse.nbs_invalid': unprocessable(
    'O código NBS da atividade não consta da tabela oficial. Fale com o suporte para corrigir o cadastro.',
    'cnae',
  ),
  'nfse.municipal_registration_missing': unprocessable(
    'O município exige a inscrição municipal do prestador e ela não está no cadastro. Informe-a ao suporte.',
  ),
  'nfse.customer_document_invalid': badRequest(
    'customer.document deve ter 11 dígitos (CPF) ou 14 dígitos (CNPJ), sem pontos, barras ou traços.',
    'customer.document',
  ),
  'nfse.customer_required': unprocessable(
    'O município do prestador exige a identificação do cliente. Envie customer.document.',
    'customer.document',
  ),
  'nfse.customer_name_required': unprocessable(
    'Cliente com CPF precisa de nome. Envie customer.name.',
    'customer.name',
  ),
  'nfse.export_incomplete': unprocessable('Faltam campos obrigatórios da exportação. Envie todos os campos indicados.'),
  'nfse.country_unsupported': unprocessable(
    'O país do cliente não consta da tabela de países. Use o código ISO de duas letras maiúsculas, diferente de BR.',
    'customer.address.country',
  ),
  'nfse.currency_unsupported': unprocessable(
    'A moeda não é aceita. Use um dos códigos ISO aceitos, de três letras maiúsculas.',
    'foreign_amount.currency',
  ),
  'nfse.foreign_amount_invalid': unprocessable(
    'O valor em moeda estrangeira deve ser maior que zero. Envie foreign_amount.amount_in_cents em centavos.',
    'foreign_amount.amount_in_cents',
  ),
  'nfse.customer_type_conflict': unprocessable(
    'Há campos incompatíveis com o customer.type declarado. Remova-os ou corrija o tipo do cliente.',
  ),
  'nfse.cancel_window_closed': unprocessable(
    'O prazo para cancelar pela API terminou com o mês da emissão. Fale com o suporte.',
  ),
  'nfse.not_cancelable': conflict(
    'Esta nota não pode ser cancelada pela API: não está autorizada, foi substituída, foi anexada manualmente, tem uma chave que não é deste prestador no sistema nacional ou é de teste e já teve 100 pedidos que falharam. Em queued ou processing, espere o resultado e peça o cancelamento depois; em failed nada foi emitido, e não há o que cancelar; em indeterminate, fale com o suporte.',
  ),
  'nfse.already_canceled': conflict('Esta nota já está cancelada.'),
  'nfse.cancel_in_progress': conflict(
    'Já existe um pedido de cancelamento desta nota. Não repita o POST: consulte a nota. Em cancellation.status pending, espere o resultado; em failed, que em produção é definitivo, fale com o suporte.',
  ),
  'nfse.not_issued': conflict('PDF e XML só existem depois da autorização da nota.'),
  'nfse.reference_in_use': conflict(
    'Já existe uma nota da empresa com esta reference, mesmo que tenha falhado.',
    'reference',
  ),
  duplicate_suspected: conflict(
    'Uma nota com o mesmo valor e a mesma descrição foi aceita há menos de 60 segundos. Se é a mesma venda, não repita; se é outra, envie Idempotency-Key ou aguarde.',
  ),
  idempotency_key_in_use: {
    status: 409,
    type: 'invalid_request',
    retryable: true,
    message:
      'A primeira requisição com esta Idempotency-Key ainda está em andamento. Repita a mesma requisição em instantes.',
    param: 'Idempotency-Key',
  },
  idempotency_key_reuse: conflict(
    'Esta Idempotency-Key já foi usada com outro corpo nas últimas 24 horas. Use uma chave nova para cada nota.',
    'Idempotency-Key',
  ),
  invalid_request: badRequest('A requisição tem campos inválidos. Corrija os campos indicados e envie de novo.'),
  invalid_id: badRequest('O id deve ser um UUID, com ou sem o prefixo nfse_.', 'id'),
  not_found: invalid(404, 'Nenhuma nota com este id foi encontrada.'),
  route_not_found: invalid(404, 'Esta rota não existe. Confira o caminho e o método em /docs.'),
  malformed_json: badRequest('O corpo não é um JSON válido em UTF-8. Corrija o corpo e envie de novo.'),
  payload_too_large: invalid(413, 'O corpo passa do limite de 10 MB. Envie um corpo menor.'),
  unsupported_media_type: invalid(415, 'Envie o corpo com o cabeçalho Content-Type: application/json.'),
  rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    retryable: true,
    message: 'Limite de requisições por minuto atingido. Aguarde os segundos de Retry-After e repita a requisição.',
  },
  internal_error: {
    status: 500,
    type: 'api_error',
    retryable: true,
    message:
      'Ocorreu uma falha interna. Repita a mesma requisição, na emissão com a mesma Idempotency-Key; no cancelamento, consulte antes a nota. Se continuar, fale com o suporte.',
  },
  /** The text does not promise that nothing was stored, which is unknown after a lost connection to the log. */
  service_unavailable: {
    status: 503,
    type: 'api_error',
    retryable: true,
    message:
      'Serviço temporariamente indisponível. Repita a mesma requisição em instantes, na emissão com a mesma Idempotency-Key; no cancelamento, consulte antes a nota.',
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

/** One fault of a body: the dotted path of the field (`customer.document`) and a Portuguese sentence that names the field. */
export type Cause = { param: string; message: string };

/**
 * A refusal as a value. Absent fields come from the catalogue. `causes` occurs only on refusals of a body (ERR-errors), `retryable` and
 * `retryAfterSeconds` only where the contract lets them vary.
 */
export type Refusal = {
  code: ErrorCode;
  message?: string;
  param?: string;
  causes?: readonly Cause[];
  retryable?: boolean;
  retryAfterSeconds?: number;
  providerCode?: string;
};
