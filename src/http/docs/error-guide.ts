import type { ErrorCode } from '../../domain/common/error-catalogue.js';

/** Headings of the list of codes, in its order. */
export const errorGroups = {
  access: 'Chave e acesso',
  request: 'Formato da requisição',
  company: 'Cadastro da empresa',
  activity: 'Atividade e código de serviço',
  customer: 'Cliente e exportação',
  repetition: 'Repetição e duplicidade',
  document: 'Download e cancelamento',
  service: 'Limites e falhas do serviço',
} as const;

type Guide = { group: keyof typeof errorGroups; cause: string; action: string };

const SUPPORT =
  'Fale com o suporte: a correção é no cadastro da empresa. Depois dela, a mesma requisição passa, com a mesma Idempotency-Key.';
const SEE_ACTIVITIES =
  'Consulte GET /v1/activities e envie cnae e service_code da linha do serviço prestado. Se ela não está na lista, fale com o suporte: não use o código de outro serviço.';
const AT_THE_PORTAL = 'Obras, eventos e fornecimento de mão de obra são emitidos no portal nacional.';

/** Meaning of each code and what its reader should do, in Portuguese. A code without an entry does not compile. */
export const errorGuide: Readonly<Record<ErrorCode, Guide>> = {
  unauthorized: {
    group: 'access',
    cause: 'A chave de API está ausente, malformada, revogada ou é desconhecida.',
    action:
      'Envie Authorization: Bearer com uma chave ativa. Num link de download, leia a nota de novo e use o link novo.',
  },
  feature_not_enabled: {
    group: 'access',
    cause: 'A chave é válida, mas a API não está habilitada para a empresa.',
    action: 'Peça a habilitação ao suporte.',
  },
  insufficient_scope: {
    group: 'access',
    cause:
      'A chave é válida, mas não tem o escopo da rota: nfse:read nas leituras, nfse:write na emissão e no cancelamento.',
    action: 'Use uma chave com o escopo da rota.',
  },
  'company.issuer_not_enabled': {
    group: 'company',
    cause: 'A emissão pela API está desligada para a empresa.',
    action: SUPPORT,
  },
  'company.issuer_not_configured': {
    group: 'company',
    cause: 'O emissor nacional da empresa não está configurado.',
    action: SUPPORT,
  },
  'company.issuer_not_approved': {
    group: 'company',
    cause: 'A empresa ainda não foi liberada para emitir.',
    action: SUPPORT,
  },
  'company.certificate_missing': {
    group: 'company',
    cause: 'O certificado digital da empresa está ausente do cofre ou vencido.',
    action: 'Envie ao suporte um certificado A1 válido.',
  },
  'nfse.cnae_missing_ctribnac': {
    group: 'activity',
    cause:
      'O CNAE não tem código de serviço (código de tributação nacional). Sem cnae vale a atividade principal; numa loja ela costuma ser comércio, que não é serviço.',
    action: SEE_ACTIVITIES,
  },
  'nfse.cnae_missing_nbs': {
    group: 'activity',
    cause: 'A linha do serviço não tem código NBS no cadastro.',
    action: 'Peça ao suporte que inclua o NBS. Não use o código de outro serviço.',
  },
  'nfse.municipality_not_covered': {
    group: 'company',
    cause: 'A cidade e o estado do cadastro da empresa não correspondem a um código do IBGE.',
    action: SUPPORT,
  },
  'nfse.cnae_not_allowed': {
    group: 'activity',
    cause:
      'O cnae enviado não está no cadastro federal da empresa, ou a linha padrão dele está bloqueada; sem cnae, conta a atividade principal. As linhas de obras, eventos e fornecimento de mão de obra são bloqueadas.',
    action: `${SEE_ACTIVITIES} ${AT_THE_PORTAL}`,
  },
  'nfse.cnae_without_default': {
    group: 'activity',
    cause: 'O cnae tem linhas de serviço, mas nenhuma é a padrão.',
    action:
      'Envie também service_code, com o código do serviço prestado, entre os que GET /v1/activities lista para este cnae.',
  },
  'nfse.service_code_unknown': {
    group: 'activity',
    cause: 'O service_code não existe no catálogo. O engano comum é enviar o CNAE, que tem 7 dígitos.',
    action: 'Envie o código de tributação nacional, de 6 dígitos, como GET /v1/activities o mostra.',
  },
  'nfse.service_code_not_allowed': {
    group: 'activity',
    cause:
      'O código existe, mas não está entre as linhas da empresa, a linha dele está bloqueada (obras, eventos, fornecimento de mão de obra), ou cnae e service_code não são da mesma linha.',
    action: `${SEE_ACTIVITIES} ${AT_THE_PORTAL}`,
  },
  'nfse.nbs_invalid': {
    group: 'activity',
    cause:
      'O código NBS do CNAE não consta da tabela oficial. Só no modo de teste; em produção a recusa é do sistema nacional.',
    action: SUPPORT,
  },
  'nfse.municipal_registration_missing': {
    group: 'company',
    cause:
      'O município exige a inscrição municipal e ela falta no cadastro. Só no modo de teste; em produção a recusa é do sistema nacional.',
    action: 'Informe a inscrição municipal ao suporte.',
  },
  'nfse.customer_document_invalid': {
    group: 'customer',
    cause: 'customer.document tem máscara, ou não tem 11 dígitos (CPF) nem 14 (CNPJ).',
    action: 'Envie só os dígitos, sem pontos, barras ou traços.',
  },
  'nfse.customer_required': {
    group: 'customer',
    cause: 'O município do prestador exige a identificação do cliente e customer.document não veio.',
    action: 'Envie customer.document.',
  },
  'nfse.customer_name_required': {
    group: 'customer',
    cause: 'O cliente foi identificado por CPF, sem customer.name.',
    action: 'Envie customer.name.',
  },
  'nfse.export_incomplete': {
    group: 'customer',
    cause: 'Falta um campo obrigatório da exportação; a mensagem lista todos os que faltam.',
    action:
      'Envie customer.name, customer.address completo, foreign_amount e um destes dois: customer.tax_id, ou customer.tax_id_absence_reason se o cliente não tem identificação fiscal.',
  },
  'nfse.country_unsupported': {
    group: 'customer',
    cause:
      'O país do cliente não está na tabela de países ISO 3166-1 alpha-2, que só tem letras maiúsculas. BR não é aceito.',
    action: 'Envie o código de duas letras maiúsculas do país do cliente, por exemplo US.',
  },
  'nfse.currency_unsupported': {
    group: 'customer',
    cause: 'A moeda não está entre as aceitas; a mensagem lista os códigos.',
    action: 'Envie um dos códigos listados, de três letras maiúsculas, por exemplo USD.',
  },
  'nfse.foreign_amount_invalid': {
    group: 'customer',
    cause: 'O valor em moeda estrangeira está ausente, é zero ou é negativo.',
    action: 'Envie foreign_amount.amount_in_cents maior que zero, em centavos da moeda.',
  },
  'nfse.customer_type_conflict': {
    group: 'customer',
    cause:
      'Há um campo incompatível com customer.type: dados de exterior com br, ou document com foreign. Sem customer.type, o cliente é br.',
    action: 'Numa exportação, envie customer.type foreign. Senão, remova os campos citados na mensagem.',
  },
  'nfse.cancel_window_closed': {
    group: 'document',
    cause: 'A nota é de um mês anterior: o prazo acaba com o mês da emissão, no horário de Brasília.',
    action:
      'Fale com o suporte: depois do prazo, o cancelamento é feito no portal do sistema nacional. Leia cancelable_until antes de pedir.',
  },
  'nfse.not_cancelable': {
    group: 'document',
    cause:
      'A nota não está autorizada, foi substituída, foi anexada manualmente, foi importada com uma chave que não é deste prestador no sistema nacional ou é de teste e já teve 100 pedidos de cancelamento que falharam.',
    action:
      'Consulte a nota. Em queued ou processing, espere o resultado; se ficar issued, cancele então. Em failed não há o que cancelar. Em indeterminate, e em todo outro caso, fale com o suporte.',
  },
  'nfse.already_canceled': {
    group: 'document',
    cause: 'A nota já está cancelada.',
    action:
      'Consulte a nota para ver o cancelamento; não há o que pedir de novo. Se ela não mostra cancellation, foi cancelada ou substituída fora daqui: a nota que a substituiu vale, veja o carimbo do PDF (SUBSTITUÍDA) ou fale com o suporte antes de emitir outra.',
  },
  'nfse.cancel_in_progress': {
    group: 'document',
    cause: 'Já existe um pedido de cancelamento, ou um que falhou em produção, que é definitivo.',
    action: 'Não repita o POST. Consulte a nota e decida por cancellation.status; se for failed, fale com o suporte.',
  },
  'nfse.not_issued': {
    group: 'document',
    cause: 'O PDF ou o XML foi pedido de uma nota sem documento: não autorizada, ou de teste já cancelada.',
    action: 'Em queued e processing, espere os segundos de Retry-After e repita. Nos outros casos não há o que baixar.',
  },
  'nfse.reference_in_use': {
    group: 'repetition',
    cause:
      'Já existe uma nota da empresa, neste modo, com esta reference, mesmo que tenha falhado. A mensagem traz o id.',
    action:
      'Consulte a nota do id indicado. Só para outra venda, ou se essa nota está em failed ou canceled, envie outra reference; em indeterminate nunca. ' +
      'Uma nota substituída fora daqui também está em canceled, e a nota que a substituiu vale: se você não pediu o cancelamento, ou em dúvida, veja o carimbo do PDF (SUBSTITUÍDA) ou fale com o suporte antes de emitir outra. ' +
      'No modo de teste a nota pode ter sido apagada depois de 7 dias (a consulta responde 404): então use outra reference.',
  },
  duplicate_suspected: {
    group: 'repetition',
    cause: 'Parece um envio duplicado: outro com o mesmo valor e a mesma descrição foi aceito há menos de 60 segundos.',
    action:
      'Consulte a nota que a mensagem mostra. Se é a mesma venda, não repita; se é outra, envie Idempotency-Key ou espere 60 segundos.',
  },
  idempotency_key_in_use: {
    group: 'repetition',
    cause: 'A primeira requisição com esta Idempotency-Key e este corpo ainda está em andamento.',
    action: 'Espere os segundos de Retry-After e repita a mesma requisição com a mesma chave.',
  },
  idempotency_key_reuse: {
    group: 'repetition',
    cause: 'Esta Idempotency-Key já foi usada com outro corpo nas últimas 24 horas.',
    action:
      'Use uma Idempotency-Key nova para cada nota. Se a mensagem mostra o id de uma nota, consulte essa nota antes de emitir outra: para a mesma venda, só se ela está em failed ou canceled.',
  },
  invalid_request: {
    group: 'request',
    cause:
      'A requisição não segue o formato: campo obrigatório ausente, tipo errado, campo desconhecido, ou busca sem reference.',
    action: 'Corrija todas as causas de error.errors. Um clássico é enviar amount em vez de amount_in_cents.',
  },
  invalid_id: {
    group: 'request',
    cause: 'O id não é um UUID, com ou sem nfse_, ou tem o prefixo de outro recurso.',
    action: 'Use o id como a API o devolveu.',
  },
  not_found: {
    group: 'request',
    cause: 'Nenhuma nota com este id existe para a empresa e o modo da chave. Notas de teste são apagadas após 7 dias.',
    action: 'Confira o id e se a chave é do mesmo modo (teste ou produção) e da mesma empresa da nota.',
  },
  route_not_found: {
    group: 'request',
    cause: 'O caminho ou o método não existe.',
    action: 'Confira o caminho e o método na referência da API.',
  },
  malformed_json: {
    group: 'request',
    cause: 'O corpo não é um JSON válido em UTF-8, ou está vazio.',
    action: 'Corrija o corpo; a mensagem diz quando ele chegou vazio. No cancelamento, o corpo mínimo é {}.',
  },
  payload_too_large: { group: 'request', cause: 'O corpo passa de 10 MB.', action: 'Envie um corpo menor.' },
  unsupported_media_type: {
    group: 'request',
    cause: 'Falta o cabeçalho Content-Type: application/json.',
    action: 'Envie o cabeçalho em toda requisição com corpo.',
  },
  rate_limit_exceeded: {
    group: 'service',
    cause:
      'A chave passou do limite por minuto (60 escritas ou 300 leituras), ou os links de download de uma nota foram abertos mais de 60 vezes em um minuto.',
    action: 'Espere os segundos de Retry-After. Consulte cada nota a cada 3 segundos, no máximo.',
  },
  internal_error: {
    group: 'service',
    cause: 'Uma falha inesperada do nosso lado.',
    action:
      'Repita a mesma requisição, na emissão com a mesma Idempotency-Key; no cancelamento, consulte antes a nota. Se continuar, fale com o suporte e informe o request_id.',
  },
  service_unavailable: {
    group: 'service',
    cause:
      'O serviço está suspenso, uma parte dele não responde no momento, ou há downloads demais ao mesmo tempo (no máximo 32 PDFs por empresa, e 10 segundos de espera na fila).',
    action:
      'Espere os segundos de Retry-After e repita a mesma requisição, na emissão com a mesma Idempotency-Key; no cancelamento, consulte antes a nota. Peça no máximo 32 PDFs de cada vez.',
  },
};
